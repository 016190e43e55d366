/* How search results are ordered: functions before methods, guides before results of benches, and the page that answers a common question first. */
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  answers: {
    "bootstrap": "bootstrap", "calibration": "definitions", "confidence interval": "uncertainty", "cost": "costs", "costs": "costs",
    "groups": "how-to/weights-and-groups", "weights": "how-to/weights-and-groups", "logits": "limits", "p-value": "how-to/compare-models",
    "multi-label": "faq", "multilabel": "faq", "missing class": "how-to/missing-classes", "missing classes": "how-to/missing-classes",
    "report": "report", "sample size": "how-to/how-many-rows", "sparse": "sparse", "standard error": "uncertainty",
    "standard errors": "uncertainty", "threads": "install", "partial auc": "bootstrap", "hand & till": "definitions",
    "hand till": "definitions", "cite": "how-to/reporting-in-a-paper", "speed": "benchmarks/index",
  },
  score: ([page, title, anchor, descr, score, filename, kind]) => {
    const asked = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
    if (Scorer.answers[asked] === page && kind !== "object") score += 100;
    if (kind === "object") {
      const name = title.replace(/\(.*/, "");
      if (name === asked || name === `multiauc.${asked}`) score += 60;
      else if (name.split(".").length > 2) score -= 12;
    }
    if (/^(benchmarks|papers|decisions)\/|^(changelog|contributing|coverage)$/.test(page)) score -= 12;
    return score;
  },
};
