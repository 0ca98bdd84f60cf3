"""How fast, in how much memory, how exactly: one module for each benchmark."""
