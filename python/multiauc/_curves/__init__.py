"""ROC curves: per class and pair, partial, multi-class, summary."""
