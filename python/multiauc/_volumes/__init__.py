"""Volumes under ROC surfaces: one row of every class at a time."""
