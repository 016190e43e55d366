"""Predictions in files of all kinds, and what is expected of them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, ipc, parquet

import multiauc
from command_line import ANIMALS, columns, sample

METRICS = ("auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence")


def predictions(rng, n=600, dtype=np.float64):
    """Labels and scores of all three classes, with ties, and a weight for each row."""
    labels, scores = sample(rng, n)
    rounded = np.where(rng.random((n, 1)) < 0.3, scores.round(2), scores)
    return labels, rounded.astype(dtype), rng.integers(1, 4, size=n).astype(float)


def table_of(labels, scores, weights=None):
    """Predictions as a table with a column that nobody asks for."""
    more = {} if weights is None else {"w": weights}
    return pa.table({"y": labels, "unused": ["x" * 50] * len(labels)} | columns(scores) | more)


def write(table, name):
    """Write a table in the format that the name tells, in small parts."""
    if name.endswith((".parquet", ".pq")):
        parquet.write_table(table, name, row_group_size=70)
    elif name.endswith(".stream.arrow"):
        with pa.OSFile(name, "wb") as file, ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table, max_chunksize=70)
    elif name.endswith((".arrow", ".feather")):
        feather.write_feather(table, name, chunksize=70)
    elif name.endswith(".csv.gz"):
        with pa.CompressedOutputStream(name, "gzip") as packed:
            csv.write_csv(table, packed)
    else:
        csv.write_csv(table, name, csv.WriteOptions(delimiter="\t" if name.endswith(".tsv") else ","))
    return Path(name)


KINDS = ("a.parquet", "a.pq", "a.arrow", "a.feather", "a.stream.arrow", "a.csv", "a.tsv", "a.csv.gz")


def numbers(found):
    """The values of an evaluation, whole or in pieces, to the last bit."""
    metrics = {metric: getattr(found, metric).value for metric in METRICS}
    return metrics | {str(label): estimate.value for label, estimate in found.per_class.items()}


def in_memory(labels, scores, weights=None, classes=ANIMALS):
    """What all rows at once give."""
    return numbers(multiauc.evaluate(labels, scores, sample_weight=weights, labels=classes))
