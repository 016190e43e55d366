//! Summary ROC curves: random-effects models of several 2 × 2 tables, on the logits of both rates.
//!
//! A table has true positives, false negatives, false positives and true negatives. Of each table, (logit TPR, logit FPR)
//! is normal around common means, with standard deviations and a correlation between tables. Within a table the logits
//! are normal with known variances (Reitsma's bivariate model), or the counts are binomial (Laplace's approximation).

use std::f64::consts::PI;

use crate::error::{Error, Result};
use crate::float::CarefulSum;

/// Standard deviations below this, or correlations this near to 1 or −1, are at the edge of what there can be.
const EDGE: f64 = 1e-4;
/// Standard deviations up to this are what a search that ends at 0 leaves of them.
const NOTHING: f64 = 1e-7;
/// Standard deviations below this show nothing of the shape of the curve.
const NO_SPREAD: f64 = 1e-3;
/// Steps of the logit scale for areas, and how far it is followed: the rest is below 1e-15.
const LOGIT_STEP: f64 = 1.0 / 64.0;
const LOGIT_END: f64 = 40.0;

/// True positives, false negatives, false positives, true negatives.
pub type Table = [f64; 4];

/// What is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryModel {
    /// Moses and Littenberg's regression of logit TPR − logit FPR on their sum, every table with the same weight.
    Line,
    /// Normal logits with known variances, by their means, standard deviations and correlation.
    Normal,
    /// The same model by Rutter and Gatsonis's accuracy, threshold and shape.
    Hierarchical,
    /// Binomial counts, by Laplace's approximation of the likelihood, in the parameters of `Normal`.
    Binomial,
}

/// A fit: intercept and slope of the regression; or the means of logit TPR and logit FPR, their standard deviations
/// between tables, and the correlation.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryFit {
    /// What was fitted.
    pub model: SummaryModel,
    /// Whether by restricted maximum likelihood.
    pub is_restricted: bool,
    /// The two or five estimates.
    pub estimates: Vec<f64>,
    /// Their covariance matrix, row by row; NaN for standard deviations and correlation where these are at an edge.
    pub covariance: Vec<f64>,
    /// The log-likelihood of the data, or the restricted one; NaN for the regression.
    pub log_likelihood: f64,
}

/// Fits a model to tables. With a `start`, the fit of similar tables, in one quick search and without the covariance of
/// what varies between tables.
///
/// # Errors
/// [`Error::SameTables`] if there is no line through them; [`Error::EmptyCell`] and [`Error::NoMaximum`] if no finite
/// parameters of binomial counts are most likely.
pub fn fit_summary_roc(
    tables: &[Table],
    model: SummaryModel,
    is_restricted: bool,
    start: Option<&SummaryFit>,
) -> Result<SummaryFit> {
    let start = start.and_then(|fit| fit.estimates.first_chunk().copied());
    let found = match model {
        SummaryModel::Line => {
            let (estimates, covariance) = fit_line(&Logits::new(tables))?;
            let (estimates, covariance) = (estimates.to_vec(), covariance.to_vec());
            return Ok(SummaryFit { model, is_restricted, estimates, covariance, log_likelihood: f64::NAN });
        }
        SummaryModel::Normal | SummaryModel::Hierarchical => fit_normal(&Logits::new(tables), is_restricted, start),
        SummaryModel::Binomial => {
            if let Some(cell) = (0..4).find(|&cell| tables.iter().all(|table| table[cell] == 0.0)) {
                return Err(Error::EmptyCell { cell });
            }
            let found = fit_binomial(&Logits::new(tables), &Counts::new(tables), start);
            check_maximum(tables, &found.estimates)?;
            found
        }
    };
    let (estimates, covariance) = (found.estimates.to_vec(), found.covariance.to_vec());
    Ok(SummaryFit { model, is_restricted, estimates, covariance, log_likelihood: found.log_likelihood })
}

impl SummaryFit {
    /// Intercept and slope of logit TPR against logit FPR.
    #[must_use]
    pub fn curve(&self) -> (f64, f64) {
        self.curve_at(&self.estimates)
    }

    /// Whether nothing shows the shape of the curve, which then is that of one odds ratio.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.model != SummaryModel::Line && self.estimates[2].min(self.estimates[3]) < NO_SPREAD
    }

    /// The area under the curve, NaN unless it rises, and the parameters of the model.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        self.values_at(&self.estimates)
    }

    /// Their standard errors by the delta method with numerical slopes; NaN where an estimate without one matters.
    #[must_use]
    pub fn standard_errors(&self) -> Vec<f64> {
        let size = self.estimates.len();
        let slopes: Vec<Vec<f64>> = (0..size)
            .map(|k| {
                let step = 1e-5 * self.estimates[k].abs().max(0.1);
                let moved = |step: f64| {
                    let mut at = self.estimates.clone();
                    at[k] += step;
                    self.values_at(&at)
                };
                moved(step).iter().zip(moved(-step)).map(|(up, down)| (up - down) / 2.0 / step).collect()
            })
            .collect();
        let error_of = |value: usize| {
            let slope = |k: usize| slopes[k][value];
            let matter: Vec<usize> = (0..size).filter(|&k| slope(k).abs() > 1e-12).collect();
            if matter.is_empty() || (0..size).any(|k| slope(k).is_nan()) {
                return f64::NAN;
            }
            let row = |i: usize| matter.iter().map(|&j| self.covariance[i * size + j] * slope(j)).sum::<f64>();
            // The root of a negative number is NaN.
            matter.iter().map(|&i| slope(i) * row(i)).sum::<f64>().sqrt()
        };
        (0..slopes[0].len()).map(error_of).collect()
    }

    /// The heights of the curve at false-positive rates.
    #[must_use]
    pub fn heights(&self, at: &[f64]) -> Vec<f64> {
        let (intercept, slope) = self.curve();
        at.iter().map(|&rate| expit(intercept + slope * (rate.ln() - (-rate).ln_1p()))).collect()
    }

    /// The same model of similar tables, found quickly.
    ///
    /// # Errors
    /// As [`fit_summary_roc`].
    pub fn refit(&self, tables: &[Table]) -> Result<Self> {
        fit_summary_roc(tables, self.model, self.is_restricted, Some(self))
    }

    fn curve_at(&self, values: &[f64]) -> (f64, f64) {
        if self.model == SummaryModel::Line {
            let (a, b) = (values[0], values[1]);
            return if b == 1.0 { (f64::NAN, f64::NAN) } else { (a / (1.0 - b), (1.0 + b) / (1.0 - b)) };
        }
        let slope = spread_ratio(values).powf(-2.0);
        (values[0] - slope * values[1], slope)
    }

    fn values_at(&self, values: &[f64]) -> Vec<f64> {
        let (intercept, slope) = self.curve_at(values);
        let mut found = vec![summary_area(intercept, slope)];
        if self.model == SummaryModel::Hierarchical {
            let (ratio, product) = (spread_ratio(values), values[2] * values[3]);
            let (first, second) = (ratio * values[0], values[1] / ratio);
            found.extend([first - second, 0.5 * (first + second), 2.0 * ratio.ln()]);
            found.extend([2.0 * product * (1.0 - values[4]), 0.5 * product * (1.0 + values[4])]);
        } else {
            found.extend(values);
        }
        found
    }
}

/// The root of the ratio of both standard deviations; 1 where nothing shows it.
fn spread_ratio(values: &[f64]) -> f64 {
    if values[2].min(values[3]) >= NO_SPREAD { (values[3] / values[2]).sqrt() } else { 1.0 }
}

/// Intercept and slope of the regression, and their covariance matrix.
fn fit_line(logits: &Logits) -> Result<([f64; 2], [f64; 4])> {
    /// Beyond this ratio of its singular values the matrix of the normal equations has no inverse worth the name.
    const WORST_CONDITION: f64 = 1e12;
    let n = logits.values.len() as f64;
    let points: Vec<[f64; 2]> = logits.values.iter().map(|[first, second]| [first + second, first - second]).collect();
    let [x, y] = mean(&points);
    let (mut across, mut both) = (0.0, 0.0);
    for point in &points {
        across += (point[0] - x).powi(2);
        both += (point[0] - x) * (point[1] - y);
    }
    let squares = across + n * x * x;
    let largest = 0.5 * (n + squares + (n - squares).hypot(2.0 * n * x));
    if largest * largest > WORST_CONDITION * n * across {
        return Err(Error::SameTables);
    }
    let slope = both / across;
    let intercept = y - slope * x;
    let rest: f64 = points.iter().map(|point| (point[1] - intercept - slope * point[0]).powi(2)).sum();
    let variance = rest / (n - 2.0) / across;
    Ok(([intercept, slope], [variance * squares / n, -variance * x, -variance * x, variance]))
}

/// Refuses estimates far beyond what logits of counts can be: the likelihood keeps rising there.
fn check_maximum(tables: &[Table], estimates: &[f64; 5]) -> Result<()> {
    for side in 0..2 {
        let logit = |table: &Table| ((table[2 * side] + 0.5) / (table[2 * side + 1] + 0.5)).ln();
        let (low, high) = tables
            .iter()
            .map(logit)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), seen| (low.min(seen), high.max(seen)));
        let is_far = estimates[side].abs() > low.abs().max(high.abs()) + 10.0;
        if is_far || estimates[2 + side] > 10.0 * (high - low + 1.0) {
            return Err(Error::NoMaximum { side });
        }
    }
    Ok(())
}

/// The estimates of random effects: means, standard deviations and correlation.
struct Effects {
    estimates: [f64; 5],
    covariance: [f64; 25],
    log_likelihood: f64,
}

/// The area under logit TPR = intercept + slope · logit FPR; NaN unless the curve rises.
#[must_use]
pub fn summary_area(intercept: f64, slope: f64) -> f64 {
    if !(slope > 0.0 && slope.is_finite()) {
        return f64::NAN;
    }
    if slope > 1.0 {
        // Seen from the other axis it is flatter.
        return 1.0 - summary_area(-intercept / slope, 1.0 / slope);
    }
    // The trapezoidal rule is exact to rounding for what vanishes at both ends like this.
    let steps = (2.0 * LOGIT_END / LOGIT_STEP) as u32;
    let mut sum = CarefulSum::default();
    for k in 0..=steps {
        let t = f64::from(k) * LOGIT_STEP - LOGIT_END;
        let share = expit(t);
        sum.add(expit(intercept + slope * t) * share * (1.0 - share));
    }
    (sum.value() * LOGIT_STEP).min(1.0)
}

/// 1 / (1 + exp(−x)) without overflow, exact also near 0.
fn expit(x: f64) -> f64 {
    (-softplus(-x)).exp()
}

/// ln(1 + exp(x)) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// (logit TPR, logit FPR) of each table with their variances; half added to all counts if any is zero.
struct Logits {
    values: Vec<[f64; 2]>,
    variances: Vec<[f64; 2]>,
}

impl Logits {
    fn new(tables: &[Table]) -> Self {
        let more = if tables.iter().flatten().any(|&count| count == 0.0) { 0.5 } else { 0.0 };
        let counts = || tables.iter().map(|table| table.map(|count| count + more));
        Self {
            values: counts().map(|[tp, fn_, fp, tn]| [(tp / fn_).ln(), (fp / tn).ln()]).collect(),
            variances: counts().map(|[tp, fn_, fp, tn]| [1.0 / tp + 1.0 / fn_, 1.0 / fp + 1.0 / tn]).collect(),
        }
    }

    fn means(&self) -> [f64; 2] {
        mean(&self.values)
    }

    /// Where searches begin: factors of the covariance between tables by its moments, and plain guesses.
    fn starts(&self) -> [[f64; 3]; 3] {
        let (means, within) = (self.means(), mean(&self.variances));
        let mut between = [0.0; 3];
        for [first, second] in &self.values {
            let (x, y) = (first - means[0], second - means[1]);
            between = [between[0] + x * x, between[1] + y * y, between[2] + x * y];
        }
        let [first, second, both] = between.map(|sum| sum / (self.values.len() as f64 - 1.0));
        let (first, second) = ((first - within[0]).max(0.05).sqrt(), (second - within[1]).max(0.05).sqrt());
        let correlation = (both / (first * second)).clamp(-0.9, 0.9);
        [root_of([first, second, correlation]), [0.5, 0.1, 0.5], [0.1, 0.0, 0.1]]
    }
}

fn mean(pairs: &[[f64; 2]]) -> [f64; 2] {
    let sums = pairs.iter().fold([0.0; 2], |sums, pair| [sums[0] + pair[0], sums[1] + pair[1]]);
    sums.map(|sum| sum / pairs.len() as f64)
}

/// The factor [[a, 0], [b, c]] of the covariance matrix of two standard deviations and a correlation.
fn root_of([first, second, correlation]: [f64; 3]) -> [f64; 3] {
    [first, correlation * second, second * (1.0 - correlation * correlation).max(0.0).sqrt()]
}

/// Both standard deviations and the correlation; the correlation is 0 where one of them does not vary.
fn spread_of([a, b, c]: [f64; 3]) -> [f64; 3] {
    let varies = |deviation: f64| if deviation > NOTHING { deviation } else { 0.0 };
    let (first, second) = (varies(a), varies(b.hypot(c)));
    [first, second, if first > 0.0 && second > 0.0 { b / second } else { 0.0 }]
}

/// The factor to begin with for tables that are similar to others.
fn near(start: [f64; 5]) -> [f64; 3] {
    root_of([start[2].max(0.05), start[3].max(0.05), start[4].clamp(-0.95, 0.95)])
}

fn fit_normal(logits: &Logits, is_restricted: bool, start: Option<[f64; 5]>) -> Effects {
    // (deviance, means, their covariance) with the means that are most likely for a covariance between tables.
    let profile = |[a, b, c]: [f64; 3]| {
        let (mut total, mut right, mut deviance) = ([0.0; 3], [0.0; 2], 0.0);
        let inverse = |within: &[f64; 2]| {
            let (first, second, both) = (a * a + within[0], b * b + c * c + within[1], a * b);
            let determinant = first * second - both * both;
            ([second / determinant, first / determinant, -both / determinant], determinant)
        };
        for (y, within) in logits.values.iter().zip(&logits.variances) {
            let ([own, other, shared], _) = inverse(within);
            total = [total[0] + own, total[1] + other, total[2] + shared];
            right = [right[0] + own * y[0] + shared * y[1], right[1] + shared * y[0] + other * y[1]];
        }
        let determinant = total[0] * total[1] - total[2] * total[2];
        let of_means = [total[1], total[0], -total[2]].map(|entry| entry / determinant);
        let means = [of_means[0] * right[0] + of_means[2] * right[1], of_means[2] * right[0] + of_means[1] * right[1]];
        for (y, within) in logits.values.iter().zip(&logits.variances) {
            let ([own, other, shared], determinant) = inverse(within);
            let (x, z) = (y[0] - means[0], y[1] - means[1]);
            deviance += determinant.ln() + own * x * x + 2.0 * shared * x * z + other * z * z;
        }
        // Constants as in the likelihood of the 2n logits, or of what is left of them without the two means.
        let mut size = 2.0 * logits.values.len() as f64;
        if is_restricted {
            deviance += determinant.ln();
            size -= 2.0;
        }
        (deviance + size * (2.0 * PI).ln(), means, of_means)
    };
    let starts = start.map_or_else(|| logits.starts().to_vec(), |start| vec![near(start)]);
    let root = minimum(|root| profile(root).0, &starts, [true, false, true], start.is_none());
    let (deviance, means, [first, second, both]) = profile(root);
    let spread = spread_of(root);
    let mut covariance = [0.0; 25];
    [covariance[0], covariance[1], covariance[5], covariance[6]] = [first, both, both, second];
    if start.is_none() {
        let found = inverse_curvature(|natural| 0.5 * profile(root_of(natural)).0, spread, Some(spread));
        for (k, entry) in found.into_iter().enumerate() {
            covariance[(k / 3 + 2) * 5 + k % 3 + 2] = entry;
        }
    }
    let estimates = [means[0], means[1], spread[0], spread[1], spread[2]];
    Effects { estimates, covariance, log_likelihood: -0.5 * deviance }
}

fn fit_binomial(logits: &Logits, counts: &Counts, start: Option<[f64; 5]>) -> Effects {
    let deviance = |[x, y, a, b, c]: [f64; 5]| -2.0 * (counts.laplace([x, y], [a, b, c]) + counts.largest());
    let starts: Vec<[f64; 5]> = if let Some(start) = start {
        let [a, b, c] = near(start);
        vec![[start[0], start[1], a, b, c]]
    } else {
        let [x, y] = logits.means();
        logits.starts().map(|[a, b, c]| [x, y, a, b, c]).to_vec()
    };
    let best = minimum(deviance, &starts, [false, false, true, false, true], start.is_none());
    let [x, y, a, b, c] = best;
    let [first, second, correlation] = spread_of([a, b, c]);
    let estimates = [x, y, first, second, correlation];
    let log_likelihood = -0.5 * deviance(best);
    if start.is_some() {
        return Effects { estimates, covariance: [f64::NAN; 25], log_likelihood };
    }
    let of_natural = |[x, y, first, second, correlation]: [f64; 5]| {
        let [a, b, c] = root_of([first, second, correlation]);
        0.5 * deviance([x, y, a, b, c])
    };
    let found = inverse_curvature(of_natural, estimates, Some([first, second, correlation]));
    let mut covariance: [f64; 25] = std::array::from_fn(|k| found[k]);
    if covariance.iter().any(|entry| entry.is_nan()) {
        // At an edge the means alone are known, with the spread as it is.
        let means = inverse_curvature(|[x, y]| 0.5 * deviance([x, y, a, b, c]), [x, y], None);
        [covariance[0], covariance[1], covariance[5], covariance[6]] = [means[0], means[1], means[2], means[3]];
    }
    Effects { estimates, covariance, log_likelihood }
}

/// A binomial count, and its log-likelihood without the loss of digits that large counts bring.
///
/// Heights are those above the rate seen, where the likelihood is largest: they are small where they matter, while the
/// likelihoods themselves are as large as the counts.
#[derive(Debug, Clone, Copy)]
struct Count {
    hits: f64,
    rest: f64,
    trials: f64,
    /// The rate seen, its logit and the likelihood there but for constants; `None` where the logit is not finite.
    seen: Option<(f64, f64, f64)>,
}

impl Count {
    fn new(hits: f64, rest: f64) -> Self {
        let found = Self { hits, rest, trials: hits + rest, seen: None };
        let is_inner = hits > 0.0 && rest > 0.0;
        let logit = (hits / rest).ln();
        Self { seen: is_inner.then(|| (hits / (hits + rest), logit, -found.away(logit))), ..found }
    }

    fn away(&self, u: f64) -> f64 {
        self.hits * softplus(-u) + self.rest * softplus(u)
    }

    /// The log-likelihood at the logit u, less the largest there is: 0 or below.
    fn height(&self, u: f64) -> f64 {
        match self.seen {
            Some((share, logit, _)) if (u - logit).abs() < 1.0 => {
                let near = u - logit;
                self.trials * (share * near - (share * near.exp_m1()).ln_1p())
            }
            Some((.., top)) => -self.away(u) - top,
            None => -self.away(u),
        }
    }

    /// A logit that is finite, with half a hit and half a miss more, and its variance.
    fn finite_logit(&self) -> (f64, f64) {
        let (hits, rest) = (self.hits + 0.5, self.rest + 0.5);
        ((hits / rest).ln(), 1.0 / hits + 1.0 / rest)
    }

    /// The log-likelihood at the rate seen, by Loader's form of Stirling's.
    fn largest(&self) -> f64 {
        if self.seen.is_none() {
            return 0.0;
        }
        // Written so that no product of counts overflows.
        let rest = stirling_error(self.trials) - stirling_error(self.hits) - stirling_error(self.rest);
        rest - 0.5 * ((2.0 * PI).ln() + self.hits.ln() + (self.rest / self.trials).ln())
    }
}

/// ln n! less Stirling's approximation n ln n − n + ln(2πn)/2, for whole n of 1 or more.
fn stirling_error(n: f64) -> f64 {
    if n <= 16.0 {
        let factorial: f64 = (1..=n as u32).map(f64::from).product();
        return factorial.ln() - (n + 0.5) * n.ln() + n - 0.5 * (2.0 * PI).ln();
    }
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / n
}

/// The true and false positives of tables.
struct Counts(Vec<[Count; 2]>);

impl Counts {
    fn new(tables: &[Table]) -> Self {
        Self(tables.iter().map(|&[tp, fn_, fp, tn]| [Count::new(tp, fn_), Count::new(fp, tn)]).collect())
    }

    fn largest(&self) -> f64 {
        self.0.iter().flatten().map(Count::largest).sum()
    }

    /// The log-likelihood less its largest, by Laplace's approximation: at the mode of each table's effects, with the
    /// curvature there.
    fn laplace(&self, means: [f64; 2], root: [f64; 3]) -> f64 {
        self.0.iter().map(|counts| laplace_of_table(counts, means, root)).sum()
    }
}

fn laplace_of_table(counts: &[Count; 2], means: [f64; 2], [a, b, c]: [f64; 3]) -> f64 {
    let logits = |[x, y]: [f64; 2]| [means[0] + a * x, means[1] + b * x + c * y];
    let height = |effects: [f64; 2]| {
        let u = logits(effects);
        counts[0].height(u[0]) + counts[1].height(u[1]) - 0.5 * (effects[0].powi(2) + effects[1].powi(2))
    };
    // The curvature, by what the counts and the effects' own distribution add to it.
    let curvature = |rates: [f64; 2]| {
        let [first, second] = [0, 1].map(|side| counts[side].trials * rates[side] * (1.0 - rates[side]));
        Symmetric {
            entries: [a * a * first + b * b * second + 1.0, c * c * second + 1.0, b * c * second],
            determinant: (a * a * first + 1.0) * (c * c * second + 1.0) + b * b * second,
        }
    };
    // Where the mode would be if logits were normal: near to it for large counts.
    let [(first, first_variance), (second, second_variance)] = [counts[0].finite_logit(), counts[1].finite_logit()];
    let gaps = [first - means[0], second - means[1]];
    let spread = Symmetric {
        entries: [a * a + first_variance, b * b + c * c + second_variance, a * b],
        determinant: a * a * (c * c + second_variance) + first_variance * (b * b + c * c + second_variance),
    };
    let solved = spread.solve(gaps);
    let mut effects = [a * solved[0] + b * solved[1], c * solved[1]];
    let mut reached = height(effects);
    for _ in 0..100 {
        let rates = logits(effects).map(expit);
        let [first, second] = [0, 1].map(|side| counts[side].hits - counts[side].trials * rates[side]);
        let slope = [a * first + b * second - effects[0], c * second - effects[1]];
        let mut step = curvature(rates).solve(slope);
        let moved = |step: [f64; 2]| [effects[0] + step[0], effects[1] + step[1]];
        let mut found = height(moved(step));
        for _ in 0..40 {
            if found >= reached - 1e-12 * (1.0 + reached.abs()) {
                break;
            }
            step = step.map(|entry| 0.5 * entry);
            found = height(moved(step));
        }
        effects = moved(step);
        reached = found;
        if step[0].abs().max(step[1].abs()) < 1e-9 {
            break;
        }
    }
    reached - 0.5 * curvature(logits(effects).map(expit)).determinant.ln()
}

/// A symmetric matrix of two rows, (xx, yy, xy), with its determinant as a sum of positive terms: that of the entries
/// would lose all digits where counts are large.
struct Symmetric {
    entries: [f64; 3],
    determinant: f64,
}

impl Symmetric {
    /// The solution of a system of two equations.
    fn solve(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [first, second, both] = self.entries;
        [(second * x - both * y) / self.determinant, (first * y - both * x) / self.determinant]
    }
}

/// The best of several descents, made exact to eight digits by a simplex if `is_exact`.
///
/// Descents stay near their starts: a likelihood may be higher still at an edge, where one huge table alone decides.
fn minimum<const N: usize>(
    function: impl Fn([f64; N]) -> f64,
    starts: &[[f64; N]],
    is_positive: [bool; N],
    is_exact: bool,
) -> [f64; N] {
    let found = starts.iter().map(|&start| descend(&function, start, is_positive));
    let best = found.fold((f64::INFINITY, starts[0]), |best, one| if one.0 < best.0 { one } else { best });
    if !is_exact {
        return best.1;
    }
    let fine = simplex(&function, best.1, is_positive);
    if fine.0 <= best.0 { fine.1 } else { best.1 }
}

/// The steepest descent with the curvature learnt on the way (Broyden, Fletcher, Goldfarb and Shanno), with limits at 0:
/// (value, place).
fn descend<const N: usize>(
    function: &impl Fn([f64; N]) -> f64,
    start: [f64; N],
    is_positive: [bool; N],
) -> (f64, [f64; N]) {
    const MOST_STEPS: usize = 500;
    let gradient = |x: [f64; N]| -> [f64; N] {
        std::array::from_fn(|k| {
            let step = 6e-6 * x[k].abs().max(0.1);
            let moved = |sign: f64| {
                let mut point = x;
                point[k] += sign * step;
                function(point)
            };
            (moved(1.0) - moved(-1.0)) / (2.0 * step)
        })
    };
    let dot = |x: &[f64; N], y: &[f64; N]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    let unit: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    let (mut x, mut inverse, mut is_fresh) = (start, unit, true);
    let (mut value, mut slope) = (function(x), gradient(x));
    for _ in 0..MOST_STEPS {
        // What lies at its limit and would go beyond stays there.
        let is_free: [bool; N] = std::array::from_fn(|k| !(is_positive[k] && x[k] <= 0.0 && slope[k] > 0.0));
        let pull: [f64; N] = std::array::from_fn(|k| if is_free[k] { slope[k] } else { 0.0 });
        if pull.iter().all(|entry| entry.abs() < 1e-8) {
            break;
        }
        let mut way: [f64; N] = std::array::from_fn(|k| if is_free[k] { -dot(&inverse[k], &pull) } else { 0.0 });
        if dot(&way, &pull) >= 0.0 {
            (inverse, is_fresh, way) = (unit, true, pull.map(|entry| -entry));
        }
        let mut length = if is_fresh { (1.0 / dot(&pull, &pull).sqrt()).min(1.0) } else { 1.0 };
        let reached = |length: f64| -> [f64; N] {
            std::array::from_fn(|k| {
                let moved = x[k] + length * way[k];
                if is_positive[k] { moved.max(0.0) } else { moved }
            })
        };
        let (mut next, mut found) = (reached(length), f64::NAN);
        for _ in 0..40 {
            next = reached(length);
            found = function(next);
            let gain: f64 = (0..N).map(|k| pull[k] * (next[k] - x[k])).sum();
            if found <= value + 1e-4 * gain {
                break;
            }
            length *= 0.5;
        }
        if found.is_nan() || found >= value {
            if is_fresh {
                break;
            }
            (inverse, is_fresh) = (unit, true);
            continue;
        }
        let after = gradient(next);
        let (step, change): ([f64; N], [f64; N]) =
            (std::array::from_fn(|k| next[k] - x[k]), std::array::from_fn(|k| after[k] - slope[k]));
        let along = dot(&step, &change);
        if along > 1e-14 * (dot(&step, &step) * dot(&change, &change)).sqrt() {
            let bent: [f64; N] = std::array::from_fn(|k| dot(&inverse[k], &change));
            let factor = (1.0 + dot(&change, &bent) / along) / along;
            for i in 0..N {
                for j in 0..N {
                    inverse[i][j] += factor * step[i] * step[j] - (bent[i] * step[j] + step[i] * bent[j]) / along;
                }
            }
            is_fresh = false;
        }
        let is_last = value - found <= 1e-14 * (1.0 + value.abs());
        (x, value, slope) = (next, found, after);
        if is_last {
            break;
        }
    }
    (if value.is_nan() { f64::INFINITY } else { value }, x)
}

/// Nelder and Mead's search with limits at 0: (value, place).
fn simplex<const N: usize>(
    function: &impl Fn([f64; N]) -> f64,
    start: [f64; N],
    is_positive: [bool; N],
) -> (f64, [f64; N]) {
    /// How near corners and their values are at the end.
    const PLACES: f64 = 1e-9;
    const VALUES: f64 = 1e-13;
    const MOST_STEPS: usize = 4000;
    let corner = |mut point: [f64; N]| {
        for k in 0..N {
            if is_positive[k] {
                point[k] = point[k].max(0.0);
            }
        }
        let value = function(point);
        (if value.is_nan() { f64::INFINITY } else { value }, point)
    };
    let mut corners = vec![corner(start)];
    for k in 0..N {
        let mut point = start;
        point[k] = if point[k] == 0.0 { 0.01 } else { 1.05 * point[k] };
        corners.push(corner(point));
    }
    for _ in 0..MOST_STEPS {
        corners.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (best, worst) = (corners[0], corners[N]);
        let is_near = |other: &(f64, [f64; N])| {
            let places = other.1.iter().zip(&best.1).all(|(x, y)| (x - y).abs() <= PLACES);
            places && other.0 - best.0 <= VALUES * (1.0 + best.0.abs())
        };
        if corners[1..].iter().all(is_near) {
            break;
        }
        let centre: [f64; N] =
            std::array::from_fn(|k| corners[..N].iter().map(|corner| corner.1[k]).sum::<f64>() / N as f64);
        let along = |share: f64| corner(std::array::from_fn(|k| centre[k] + share * (worst.1[k] - centre[k])));
        let reflected = along(-1.0);
        let replacement = if reflected.0 < best.0 {
            let expanded = along(-2.0);
            Some(if expanded.0 < reflected.0 { expanded } else { reflected })
        } else if reflected.0 < corners[N - 1].0 {
            Some(reflected)
        } else {
            let contracted = along(if reflected.0 < worst.0 { -0.5 } else { 0.5 });
            (contracted.0 < worst.0.min(reflected.0)).then_some(contracted)
        };
        match replacement {
            Some(found) => corners[N] = found,
            None => {
                for other in &mut corners[1..] {
                    *other = corner(std::array::from_fn(|k| 0.5 * (best.1[k] + other.1[k])));
                }
            }
        }
    }
    corners.into_iter().fold((f64::INFINITY, start), |best, one| if one.0 < best.0 { one } else { best })
}

/// The inverse of the matrix of second derivatives; NaN at an edge of the spread, or where it has no inverse.
fn inverse_curvature<const N: usize>(
    function: impl Fn([f64; N]) -> f64,
    at: [f64; N],
    spread: Option<[f64; 3]>,
) -> Vec<f64> {
    let unknown = vec![f64::NAN; N * N];
    if spread.is_some_and(|[first, second, correlation]| first.min(second) < EDGE || correlation.abs() > 1.0 - EDGE) {
        return unknown;
    }
    let mut steps = at.map(|x| 1e-3 * x.abs().max(0.1));
    if spread.is_some() {
        steps[N - 1] = steps[N - 1].min(0.3 * (1.0 - at[N - 1].abs()));
    }
    let value = |moves: &[(usize, f64)]| {
        let mut point = at;
        for &(k, times) in moves {
            point[k] += times * steps[k];
        }
        function(point)
    };
    let middle = value(&[]);
    let mut curvature = vec![0.0; N * N];
    for i in 0..N {
        for j in 0..=i {
            let found = if i == j {
                // Five points: exact to the fourth power of the step.
                let inner = value(&[(i, 1.0)]) + value(&[(i, -1.0)]);
                let outer = value(&[(i, 2.0)]) + value(&[(i, -2.0)]);
                (16.0 * inner - outer - 30.0 * middle) / (12.0 * steps[i] * steps[i])
            } else {
                let same = value(&[(i, 1.0), (j, 1.0)]) + value(&[(i, -1.0), (j, -1.0)]);
                let crossed = value(&[(i, 1.0), (j, -1.0)]) + value(&[(i, -1.0), (j, 1.0)]);
                (same - crossed) / (4.0 * steps[i] * steps[j])
            };
            curvature[i * N + j] = found;
            curvature[j * N + i] = found;
        }
    }
    invert(&curvature, N).unwrap_or(unknown)
}

/// The inverse of a symmetric positive definite matrix, by Cholesky's decomposition; `None` if it is not one.
fn invert(matrix: &[f64], size: usize) -> Option<Vec<f64>> {
    let mut root = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..=i {
            let inner: f64 = (0..j).map(|k| root[i * size + k] * root[j * size + k]).sum();
            let rest = matrix[i * size + j] - inner;
            if i == j {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                root[i * size + i] = rest.sqrt();
            } else {
                root[i * size + j] = rest / root[j * size + j];
            }
        }
    }
    let mut inverse = vec![0.0; size * size];
    for column in 0..size {
        let mut x = vec![0.0; size];
        for i in 0..size {
            let inner: f64 = (0..i).map(|k| root[i * size + k] * x[k]).sum();
            x[i] = (f64::from(u8::from(i == column)) - inner) / root[i * size + i];
        }
        for i in (0..size).rev() {
            let inner: f64 = (i + 1..size).map(|k| root[k * size + i] * x[k]).sum();
            x[i] = (x[i] - inner) / root[i * size + i];
            inverse[i * size + column] = x[i];
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: [Table; 6] = [
        [47.0, 9.0, 101.0, 738.0],
        [126.0, 51.0, 272.0, 1543.0],
        [19.0, 10.0, 12.0, 192.0],
        [36.0, 3.0, 78.0, 276.0],
        [130.0, 19.0, 211.0, 959.0],
        [84.0, 2.0, 68.0, 89.0],
    ];

    #[test]
    fn areas_are_those_of_known_curves() {
        assert!((summary_area(0.0, 1.0) - 0.5).abs() < 1e-15);
        // With one odds ratio r: r (r − 1 − ln r) / (r − 1)².
        for ratio in [0.1_f64, 4.0, 300.0] {
            let expected = ratio * (ratio - 1.0 - ratio.ln()) / (ratio - 1.0).powi(2);
            assert!((summary_area(ratio.ln(), 1.0) - expected).abs() < 1e-13);
        }
        assert!((summary_area(0.8, 2.5) + summary_area(-0.8 / 2.5, 0.4) - 1.0).abs() < 1e-13);
        assert!(summary_area(0.8, -1.0).is_nan());
    }

    #[test]
    fn heights_are_binomial_likelihoods() {
        let log_factorial = |n: f64| (2..=n as u32).map(|k| f64::from(k).ln()).sum::<f64>();
        for (hits, rest) in [(3.0, 4.0), (0.0, 5.0), (200.0, 17.0), (6.0, 0.0), (1.0, 1.0), (16.0, 20.0)] {
            let count = Count::new(hits, rest);
            for u in [-3.0, -0.4, 0.0, 0.3, 2.5] {
                let chosen = log_factorial(hits + rest) - log_factorial(hits) - log_factorial(rest);
                let expected = chosen + hits * expit(u).ln() + rest * expit(-u).ln();
                let found = count.height(u) + count.largest();
                assert!((found - expected).abs() < 1e-11 * (1.0 + expected.abs()), "{hits} {rest} {u}");
            }
        }
        // At counts whose likelihoods have lost all digits after the point.
        let large = Count::new(3e18, 1e18);
        let near = (3.0_f64).ln() + 1e-9;
        assert!((large.height(near) + 0.5 * 4e18 * 0.75 * 0.25 * 1e-18).abs() < 1e-3);
    }

    #[test]
    fn laplace_is_the_integral_for_large_counts() {
        let counts = Counts::new(&[[300.0, 100.0, 50.0, 400.0]]);
        let (means, root) = ([1.0, -2.0], [0.3, 0.1, 0.4]);
        let steps = 600;
        let mut sum = 0.0;
        for i in 0..steps {
            for j in 0..steps {
                let [x, y] = [i, j].map(|k| -6.0 + 12.0 * (f64::from(k) + 0.5) / f64::from(steps));
                let u = [means[0] + root[0] * x, means[1] + root[1] * x + root[2] * y];
                let height = counts.0[0][0].height(u[0]) + counts.0[0][1].height(u[1]);
                sum += (height - 0.5 * (x * x + y * y)).exp() / (2.0 * PI) * (12.0 / f64::from(steps)).powi(2);
            }
        }
        assert!((counts.laplace(means, root) - sum.ln()).abs() < 0.01);
    }

    #[test]
    fn nothing_near_a_fit_is_more_likely() {
        let models = [(SummaryModel::Normal, false), (SummaryModel::Normal, true), (SummaryModel::Binomial, false)];
        for (model, is_restricted) in models {
            let fit = fit_summary_roc(&TABLES, model, is_restricted, None).unwrap();
            let again = fit.refit(&TABLES).unwrap();
            assert!((fit.log_likelihood - again.log_likelihood).abs() < 1e-9, "{model:?}");
            for k in 0..5 {
                assert!((fit.estimates[k] - again.estimates[k]).abs() < 1e-6, "{model:?} {k}");
                assert!(fit.covariance[k * 6] > 0.0);
            }
        }
        let counts = Counts::new(&TABLES);
        let fit = fit_summary_roc(&TABLES, SummaryModel::Binomial, false, None).unwrap();
        let likelihood = |[x, y, first, second, correlation]: [f64; 5]| {
            counts.laplace([x, y], root_of([first, second, correlation])) + counts.largest()
        };
        for k in 0..5 {
            for step in [-1e-3, 1e-3] {
                let mut moved: [f64; 5] = *fit.estimates.first_chunk().unwrap();
                moved[k] += step;
                assert!(likelihood(moved) < fit.log_likelihood);
            }
        }
    }

    #[test]
    fn tables_that_are_alike_have_no_spread() {
        let fit = fit_summary_roc(&[[10.0, 5.0, 3.0, 20.0]; 3], SummaryModel::Normal, false, None).unwrap();
        assert!(fit.estimates[2] < 1e-3 && fit.estimates[3] < 1e-3);
        assert!((fit.estimates[0] - 2.0_f64.ln()).abs() < 1e-9);
        assert!(fit.covariance[12].is_nan());
    }

    #[test]
    fn the_line_is_that_of_least_squares() {
        let fit = fit_summary_roc(&TABLES, SummaryModel::Line, false, None).unwrap();
        let logits = Logits::new(&TABLES);
        let sum_of = |moved: [f64; 2]| -> f64 {
            logits.values.iter().map(|[u, v]| (u - v - moved[0] - moved[1] * (u + v)).powi(2)).sum()
        };
        let best = sum_of([fit.estimates[0], fit.estimates[1]]);
        for (step, k) in [(1e-4, 0), (-1e-4, 0), (1e-4, 1), (-1e-4, 1)] {
            let mut moved = [fit.estimates[0], fit.estimates[1]];
            moved[k] += step;
            assert!(sum_of(moved) > best);
        }
        assert_eq!(fit.values()[1..], fit.estimates);
        for (error, entry) in fit.standard_errors()[1..].iter().zip([0, 3]) {
            assert!((error - fit.covariance[entry].sqrt()).abs() < 1e-9);
        }
    }

    #[test]
    fn tables_without_a_fit_are_refused() {
        let fit = |tables: &[Table], model| fit_summary_roc(tables, model, false, None).map(|_| ());
        assert_eq!(fit(&[[10.0, 5.0, 3.0, 20.0]; 3], SummaryModel::Line), Err(Error::SameTables));
        let without = TABLES.map(|[tp, missed, fp, _]| [tp, missed, fp, 0.0]);
        assert_eq!(fit(&without, SummaryModel::Binomial), Err(Error::EmptyCell { cell: 3 }));
        assert_eq!(fit(&without, SummaryModel::Normal), Ok(()));
    }
}
