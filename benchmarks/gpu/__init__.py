"""Benchmarks on an accelerator: time over the limit of the card, memory and errors."""
