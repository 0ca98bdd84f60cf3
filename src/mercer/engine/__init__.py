"""Who loops: row blocks, tiles, threads, memory budget and progress."""
