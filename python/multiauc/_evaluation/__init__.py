"""Metrics with uncertainty for one model, several models, folds and slices, and planning."""
