"""Metrics for training loops."""

from multiauc.training.metric import MulticlassAuc

__all__ = ["MulticlassAuc"]
