"""Targets of `make fuzz` beside the differential one: every entry of the core, invariances, and stored bytes."""

from fuzz_targets import entries, invariances, kernels, stored, weighted
from fuzz_targets.registry import TARGETS, Finding, first_finding

__all__ = ["TARGETS", "Finding", "entries", "first_finding", "invariances", "kernels", "stored", "weighted"]
