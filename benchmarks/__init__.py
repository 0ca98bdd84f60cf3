"""Benchmarks: time, memory and error together, against peers and against the machine's limit."""
