"""Predictions in files: columns, readers, datasets, checkpoints, output; errors name file, column and row."""
