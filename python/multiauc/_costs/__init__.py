"""Costs of errors: hulls, H-measure, decision rules."""
