"""Metrics of rows that come in parts: batches, shards, files larger than memory.

`Accumulator` takes rows batch by batch, in memory of a given size, and merges with others of its kind in any order.
Its answers are exact while every distinct number fits, and lie between guaranteed bounds afterwards.
"""

from multiauc.streaming.accumulator import Accumulator, BoundedEvaluation

__all__ = ["Accumulator", "BoundedEvaluation"]
