"""The list on docs/which-metric.md says what its chart says, and its table what the registry of metrics says."""

import math
import re
import sys
from pathlib import Path

import pytest

from internals import METRICS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))
import figures_which_metric as chart

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "which-metric.md").read_text("utf-8")

# The first cell of a metric's row.
ROW = {
    "auc_mu": "AUC_mu",
    "hand_till": "Hand & Till's M",
    "one_vs_rest": "one-vs-rest, macro",
    "one_vs_rest_prevalence": "one-vs-rest, prevalence (Provost & Domingos)",
    "pdi": "PDI",
    "hum": "HUM, Landgrebe & Duin's volume",
    "landgrebe_duin": "HUM, Landgrebe & Duin's volume",
    "ordered_vus": "ordered volume",
    "matthews": "R_K (Matthews), κ",
    "kappa": "R_K (Matthews), κ",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "F1 (macro)",
    "multiclass_roc": "D",
    "average_precision": "average precision, macro",
    "average_precision_prevalence": "average precision, prevalence",
    "top_k_accuracy": "top-k accuracy",
    "log_loss": "log loss (smaller is better)",
    "brier": "Brier score (smaller is better)",
}
COIN_TOSS = {
    "half": "½",
    "zero": "0",
    "one_of_classes": "1/K",
    "one_of_orders": "1/K!",
    "prevalence": "Σ prevalence²",
    "k_of_classes": "k/K",
    "log_loss": "ln K",
    "brier": "1 \N{MINUS SIGN} 1/K",
}


def test_the_list_has_the_questions_and_answers_of_the_chart_in_order():
    entries = re.findall(r"^\d+\. \*\*(.+?)\*\*(.+?)(?=^\d+\. |\n\n)", PAGE, re.MULTILINE | re.DOTALL)
    rungs = [*chart.RUNGS, chart.OTHERWISE]
    assert [question for question, _ in entries] == [rung.question for rung in rungs]
    for (_, answer), rung in zip(entries, rungs, strict=True):
        assert rung.metric in " ".join(answer.split())


def test_the_picture_was_drawn_from_these_questions(tmp_path, monkeypatch):
    described = re.compile(r"<dc:description>(.+?)</dc:description>", re.DOTALL)
    kept = described.findall(chart.CHART.read_text("utf-8"))
    monkeypatch.setattr(chart, "CHART", tmp_path / "chart.svg")
    chart.main()
    assert described.findall((tmp_path / "chart.svg").read_text("utf-8")) == kept
    assert len(kept) == 1


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_the_table_has_the_range_and_the_coin_toss_of_every_metric(metric):
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("|")]
    ((_, _, span, coin, mix),) = [row for row in rows if row[0] == ROW[metric.name]]
    largest = "\N{INFINITY}" if math.isinf(metric.largest) else f"{metric.largest:.0f}"
    assert span.startswith(f"{metric.smallest:.0f}, {largest}".replace("-", "\N{MINUS SIGN}"))
    assert COIN_TOSS[metric.chance] in coin
    assert mix == "yes" or not metric.depends_on_sizes
