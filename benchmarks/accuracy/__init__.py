"""Accuracy at equal dimension: one module for each kernel."""
