//! The choice between decision rules by cross-validation.

use super::calibration::{Correction, LabelledRows, Likelihood};
use super::fit_rows::rows_to_fit;
use super::rule::{Regrets, Rule, RuleKind, Scratch, correct};
use crate::error::Result;
use crate::float::Score;
use crate::inference::{RowMean, row_mean};
use crate::parallel::Workers;
use crate::sample::ScoredSample;
use crate::special::StudentT;

const FOLDS: usize = 5;
/// With more classes, or fewer rows for each, offsets are found by likelihood alone.
const SEARCH_UP_TO_CLASSES: usize = 30;
const SEARCH_FROM_ROWS_PER_CLASS: usize = 100;
const SEARCH_SPANS: [f64; 4] = [2.0, 1.0, 0.5, 0.25];
const SEARCH_STEPS: [f64; 9] = [-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0];
/// Calibration is corrected where a test says at this level that it is needed,
const CALIBRATION_LEVEL: f64 = 0.001;
/// and where plain rules cost more than so many times what the uncertainty of the correction does.
const WORTH: f64 = 5.0;
/// How rarely a rule may seem cheaper by chance to be preferred: a plain one to a corrected one,
const BACK_TAIL: f64 = 0.4;
/// a plain one to another plain one,
const PLAIN_TAIL: f64 = 0.05;
/// and offsets by search to any.
const OFFSETS_TAIL: f64 = 0.003;
/// How many products of costs and probabilities the worth of a correction may take.
const PRODUCTS: f64 = 4e8;
/// Relative to the least total: shifts that cost as little.
const EQUALLY_GOOD: f64 = 1e-12;

/// The rule that was chosen, and what it and the plain rules cost on the rows that they were fitted to.
#[derive(Debug, Clone)]
pub struct FittedRule {
    /// The rule, its offsets in the order of the columns.
    pub rule: Rule,
    /// Of the test whether the probabilities are calibrated.
    pub calibration_p_value: f64,
    /// What each row costs under the chosen rule, Bayes' rule and the largest probability; fitted to other rows.
    pub row_costs: [Vec<f64>; 3],
    /// The weights of these rows.
    pub weights: Option<Vec<f64>>,
    /// Their groups.
    pub groups: Option<Vec<u32>>,
}

/// Fits the decision rule that costs least on other rows.
///
/// Bayes' rule, if a test finds nothing wrong with the calibration of the probabilities. Otherwise the same with
/// corrected ones, if by these the plain rules would cost clearly more, and else the better of the plain rules. Another
/// rule takes its place if a cross-validation shows that it costs less by more than chance: what is fitted to few rows
/// is not better than nothing by default.
///
/// `columns` are the columns in the order of their labels, in which ties are broken; `costs` by predicted class, then by
/// true class, in the order of the columns.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn fit_decision_rule<T: Score>(
    sample: &ScoredSample<'_, T>,
    groups: Option<&[u32]>,
    columns: &[usize],
    costs: &[f64],
    workers: &Workers<'_>,
) -> Result<FittedRule> {
    let classes = columns.len();
    let sorted_costs: Vec<f64> =
        columns.iter().flat_map(|&i| columns.iter().map(move |&j| costs[i * classes + j])).collect();
    let rows = rows_to_fit(sample, groups, columns, FOLDS);
    let mut found = choose(rows, &Costs::new(sorted_costs, classes), workers)?;
    let sorted = std::mem::replace(&mut found.rule.offsets, vec![0.0; classes]);
    columns.iter().zip(sorted).for_each(|(&column, offset)| found.rule.offsets[column] = offset);
    Ok(found)
}

/// What errors cost.
struct Costs {
    by_prediction: Vec<f64>,
    regrets: Regrets,
    classes: usize,
}

impl Costs {
    fn new(by_prediction: Vec<f64>, classes: usize) -> Self {
        let regrets = Regrets::new(&by_prediction, classes);
        Self { by_prediction, regrets, classes }
    }

    /// What the prediction for each row costs.
    fn of_rows(&self, rows: &LabelledRows, rule: &Rule) -> Vec<f64> {
        let mut scratch = Scratch::new(self.classes);
        let cost = |row: usize| {
            let prediction = rule.decide(rows.row(row), &self.regrets, &mut scratch);
            self.by_prediction[prediction * self.classes + rows.codes[row]]
        };
        (0..rows.len()).map(cost).collect()
    }
}

/// Bayes' rule with the correction of the highest likelihood.
fn calibrate(rows: &LabelledRows) -> Rule {
    let Correction { scale, offsets } = Likelihood::new(rows).maximum();
    Rule { kind: RuleKind::Calibrated, scale, offsets }
}

fn choose(rows: LabelledRows, costs: &Costs, workers: &Workers<'_>) -> Result<FittedRule> {
    let classes = rows.classes;
    let likelihood = Likelihood::new(&rows);
    let fitted = likelihood.maximum();
    let calibration_p_value = likelihood.calibration_p_value(&fitted);
    let needs_correction = calibration_p_value < CALIBRATION_LEVEL;
    let can_search = classes <= SEARCH_UP_TO_CLASSES && rows.len() >= SEARCH_FROM_ROWS_PER_CLASS * classes;
    let mut kinds = vec![RuleKind::Bayes, RuleKind::Argmax];
    kinds.extend(needs_correction.then_some(RuleKind::Calibrated));
    kinds.extend(can_search.then_some(RuleKind::Offsets));
    let fit = |kind: RuleKind, rows: &LabelledRows| match kind {
        RuleKind::Bayes | RuleKind::Argmax => Rule::plain(kind, classes),
        RuleKind::Calibrated => calibrate(rows),
        RuleKind::Offsets if needs_correction => search_offsets(rows, costs, calibrate(rows)),
        RuleKind::Offsets => search_offsets(rows, costs, Rule::plain(kind, classes)),
    };
    let parts = folds(&rows);
    let by_fold = workers.map(parts.len(), |fold| {
        let (own, rest) = &parts[fold];
        let (own, rest) = (rows.at(own), rows.at(rest));
        let mut found = Vec::new();
        for &kind in &kinds {
            workers.check()?;
            found.push(costs.of_rows(&own, &fit(kind, &rest)));
        }
        Ok(found)
    })?;
    let mut row_costs = vec![vec![f64::NAN; rows.len()]; kinds.len()];
    for ((own, _), found) in parts.iter().zip(by_fold) {
        for (into, found) in row_costs.iter_mut().zip(found) {
            own.iter().zip(found).for_each(|(&row, cost)| into[row] = cost);
        }
    }
    let place = |kind: RuleKind| kinds.iter().position(|&known| known == kind);
    let is_cheaper = |first: RuleKind, second: RuleKind, tail: f64| match (place(first), place(second)) {
        (Some(first), Some(second)) => cheaper(&rows, &row_costs[first], &row_costs[second], tail),
        _ => false,
    };
    let mut chosen = if needs_correction { worth_it(&likelihood, &rows, costs, &fitted) } else { RuleKind::Bayes };
    for plain in [RuleKind::Bayes, RuleKind::Argmax] {
        let tail = if chosen == RuleKind::Calibrated { BACK_TAIL } else { PLAIN_TAIL };
        if is_cheaper(plain, chosen, tail) {
            chosen = plain;
        }
    }
    if is_cheaper(RuleKind::Offsets, chosen, OFFSETS_TAIL) {
        chosen = RuleKind::Offsets;
    }
    let rule = fit(chosen, &rows);
    let own = place(chosen).unwrap_or(0);
    let row_costs = [own, 0, 1].map(|rule| row_costs[rule].clone());
    Ok(FittedRule { rule, calibration_p_value, row_costs, weights: rows.weights, groups: rows.groups })
}

/// Offsets that cost least on these rows, one class at a time, in ever smaller steps from where others left off.
fn search_offsets(rows: &LabelledRows, costs: &Costs, start: Rule) -> Rule {
    let (classes, logs) = (rows.classes, rows.logs());
    let mut offsets = start.offsets;
    let mut scratch = Scratch::new(classes);
    for span in SEARCH_SPANS {
        for j in 0..classes {
            let mut totals = [0.0; SEARCH_STEPS.len()];
            let factors = SEARCH_STEPS.map(|step| (span * step).exp_m1());
            for (row, logs) in logs.chunks_exact(classes).enumerate() {
                scratch.row.copy_from_slice(logs);
                correct(&mut scratch.row, start.scale, &offsets);
                costs.regrets.expect(&scratch.row, &mut scratch.expected);
                let (of_class, p) = (costs.regrets.of_truth(j), scratch.row[j]);
                let of_truth = costs.regrets.of_truth(rows.codes[row]);
                let weight = rows.weights.as_ref().map_or(1.0, |weights| weights[row]);
                for (total, factor) in totals.iter_mut().zip(factors) {
                    let shifted =
                        scratch.expected.iter().zip(of_class).map(|(cost, regret)| cost + factor * (p * regret));
                    let (best, _) = shifted
                        .enumerate()
                        .fold((0, f64::INFINITY), |least, (k, cost)| if cost < least.1 { (k, cost) } else { least });
                    *total += weight * of_truth[best];
                }
            }
            let limit = totals.iter().copied().fold(f64::INFINITY, f64::min) * (1.0 + EQUALLY_GOOD);
            // Of equally good shifts the smallest.
            let good = SEARCH_STEPS.iter().zip(totals).filter(|(_, total)| *total <= limit).map(|(step, _)| *step);
            let smallest =
                good.fold(f64::INFINITY, |least: f64, step| if step.abs() < least.abs() { step } else { least });
            offsets[j] += span * smallest;
        }
    }
    let mean = offsets.iter().sum::<f64>() / classes as f64;
    for offset in &mut offsets {
        *offset -= mean;
    }
    Rule { kind: RuleKind::Offsets, scale: start.scale, offsets }
}

/// The corrected rule, or the better of the plain ones if a correction would cost about as much as it saves.
///
/// Costs are expected ones by the corrected probabilities: what plain rules cost more than the corrected one, against
/// what the corrected one would on average if scale and offsets were as far off as their standard errors say.
fn worth_it(likelihood: &Likelihood<'_>, rows: &LabelledRows, costs: &Costs, fitted: &Correction) -> RuleKind {
    let classes = rows.classes;
    let most = (PRODUCTS / (2.0 * (classes as f64).powi(3))) as usize;
    let step = rows.len().div_ceil(most.max(500)).max(1);
    let seen = rows.at(&(0..rows.len()).step_by(step).collect::<Vec<_>>());
    let mut scratch = Scratch::new(classes);
    let mut expected = vec![0.0; seen.probabilities.len()];
    for (logs, into) in seen.logs().chunks_exact(classes).zip(expected.chunks_exact_mut(classes)) {
        scratch.row.copy_from_slice(logs);
        correct(&mut scratch.row, fitted.scale, &fitted.offsets);
        costs.regrets.expect(&scratch.row, into);
    }
    let mut excess = |rule: &Rule| {
        let of_row = |(row, expected): (usize, &[f64])| {
            let least = expected.iter().copied().fold(f64::INFINITY, f64::min);
            expected[rule.decide(seen.row(row), &costs.regrets, &mut scratch)] - least
        };
        let values: Vec<f64> = expected.chunks_exact(classes).enumerate().map(of_row).collect();
        mean(&seen, &values).value
    };
    let mut uncertainty = 0.0;
    for deviation in likelihood.deviations(fitted) {
        for sign in [-1.0, 1.0] {
            let offsets = fitted.offsets.iter().zip(&deviation[1..]).map(|(offset, off)| offset + sign * off).collect();
            let scale = fitted.scale + sign * deviation[0];
            uncertainty += 0.5 * excess(&Rule { kind: RuleKind::Calibrated, scale, offsets });
        }
    }
    let [bayes, argmax] = [RuleKind::Bayes, RuleKind::Argmax].map(|kind| excess(&Rule::plain(kind, classes)));
    let (best, plain) = if argmax < bayes { (argmax, RuleKind::Argmax) } else { (bayes, RuleKind::Bayes) };
    if best > WORTH * uncertainty { RuleKind::Calibrated } else { plain }
}

fn mean(rows: &LabelledRows, values: &[f64]) -> RowMean {
    row_mean(values, rows.weights.as_deref(), rows.groups.as_deref())
}

/// Whether the first rule costs less than the second by more than chance would have it once in 1 / `tail` times.
fn cheaper(rows: &LabelledRows, first: &[f64], second: &[f64], tail: f64) -> bool {
    let differences: Vec<f64> = first.iter().zip(second).map(|(x, y)| x - y).collect();
    let found = mean(rows, &differences);
    let is_known = found.value < 0.0 && found.variance > 0.0;
    is_known && found.value < -StudentT::new(found.degrees_of_freedom).upper_quantile(tail) * found.variance.sqrt()
}

/// (rows, all other rows) of parts that are as alike as can be, as the rows of a class are sorted; groups stay whole.
fn folds(rows: &LabelledRows) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut numbers: Vec<usize>;
    if let Some(groups) = &rows.groups {
        let count = groups.iter().map(|&group| group as usize + 1).max().unwrap_or(0);
        let mut groups_by_size = vec![(0_usize, 0.0); count];
        for (row, &group) in groups.iter().enumerate() {
            let (size, own) = &mut groups_by_size[group as usize];
            *size += 1;
            *own += rows.row(row)[rows.codes[row]];
        }
        let key =
            |group: usize| (groups_by_size[group].0, groups_by_size[group].1 / groups_by_size[group].0.max(1) as f64);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
        let mut rank = vec![0; count];
        order.iter().enumerate().for_each(|(place, &group)| rank[group] = place);
        numbers = groups.iter().map(|&group| rank[group as usize] % FOLDS).collect();
    } else {
        let mut seen = vec![0; rows.classes];
        let mut number = |&code: &usize| {
            seen[code] += 1;
            (seen[code] - 1) % FOLDS
        };
        numbers = rows.codes.iter().map(&mut number).collect();
        if numbers.iter().all(|&number| number == 0) {
            // A single row of each class.
            numbers = (0..rows.len()).map(|row| row % FOLDS).collect();
        }
    }
    let part = |fold: usize| (0..rows.len()).partition::<Vec<_>, _>(|&row| numbers[row] == fold);
    (0..FOLDS).map(part).filter(|(own, rest)| !own.is_empty() && !rest.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;

    const COSTS: [f64; 9] = [0.0, 1.0, 10.0, 1.0, 0.0, 10.0, 1.0, 1.0, 0.0];

    /// Rows whose true probabilities are known, shown with a power of them.
    fn rows(count: usize, power: f64) -> LabelledRows {
        let (mut probabilities, mut codes) = (Vec::new(), Vec::new());
        for k in 0..count {
            let x = [(k * 37 % 101) as f64 / 50.0, (k * 53 % 97) as f64 / 60.0, (k * 29 % 89) as f64 / 80.0];
            let mut truth = x.to_vec();
            correct(&mut truth, 1.5, &[1.0, 0.3, -0.5]);
            let at = (k * 7919 % 1000) as f64 / 1000.0;
            codes.push(if at < truth[0] {
                0
            } else if at < truth[0] + truth[1] {
                1
            } else {
                2
            });
            let mut shown: Vec<f64> = truth.iter().map(|p| p.ln()).collect();
            correct(&mut shown, power, &[0.0; 3]);
            probabilities.extend(shown);
        }
        LabelledRows { classes: 3, probabilities, codes, weights: None, groups: None }
    }

    fn chosen(rows: &LabelledRows) -> FittedRule {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(2, &cancel);
        choose(rows.clone(), &Costs::new(COSTS.to_vec(), 3), &workers).expect("a rule")
    }

    #[test]
    fn overconfident_probabilities_are_corrected_and_good_ones_are_not() {
        assert_eq!(chosen(&rows(2000, 1.0)).rule.kind, RuleKind::Bayes);
        let found = chosen(&rows(2000, 4.0));
        assert_eq!(found.rule.kind, RuleKind::Calibrated);
        assert!((found.rule.scale - 0.25).abs() < 0.05, "{}", found.rule.scale);
        let [fitted, bayes, argmax] = found.row_costs.map(|costs| costs.iter().sum::<f64>());
        assert!(fitted < bayes && fitted < argmax);
    }

    #[test]
    fn searched_offsets_cost_no_more_than_their_start() {
        let (rows, costs) = (rows(1500, 3.0), Costs::new(COSTS.to_vec(), 3));
        let total = |rule: &Rule| costs.of_rows(&rows, rule).iter().sum::<f64>();
        let start = Rule::plain(RuleKind::Offsets, 3);
        let found = search_offsets(&rows, &costs, start.clone());
        assert!(total(&found) < total(&start));
        assert!(found.offsets.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn folds_hold_every_row_once_and_whole_groups() {
        let mut rows = rows(203, 1.0);
        rows.groups = Some((0..203).map(|row| row % 17).collect());
        let parts = folds(&rows);
        let mut all: Vec<usize> = parts.iter().flat_map(|(own, _)| own).copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..203).collect::<Vec<_>>());
        for (own, rest) in &parts {
            assert!(own.iter().all(|a| rest.iter().all(|b| a % 17 != b % 17)));
        }
        rows.groups = None;
        for (own, _) in folds(&rows) {
            for class in 0..3 {
                let count = |rows: &LabelledRows| rows.codes.iter().filter(|&&code| code == class).count();
                assert!(count(&rows.at(&own)).abs_diff(count(&rows) / FOLDS) <= 1);
            }
        }
    }
}
