//! Losses along a convex hull of a ROC curve: minimum losses, the H-measure's beta integrals, the LC index.
//!
//! c in (0, 1) is the share that a false positive has in the sum of both costs, and the loss of a point of the curve is
//!
//! L(c) = c (1 − π) FPR + (1 − c) π (1 − TPR),
//!
//! π being the prevalence of the positive class.

/// Relative to the larger of two rates: these are equal but for the rounding of weights and of their sums.
const SAME_RATE: f64 = 32.0 * f64::EPSILON;
/// Relative to the range of costs: pieces of it that are there by rounding alone.
const SLIVER: f64 = 1e-12;

/// The vertices of a hull from (0, 0) to (1, 1), and the share of the positive class.
#[derive(Debug, Clone, Copy)]
pub struct HullRates<'a> {
    /// False-positive rates.
    pub false_positive: &'a [f64],
    /// True-positive rates.
    pub true_positive: &'a [f64],
    /// The prevalence of the positive class.
    pub prevalence: f64,
}

/// Drummond and Holte's cost curve of a hull from (0, 0) to (1, 1): shares of false negatives in the costs at stake, and
/// the smallest expected costs there, at the corners of the lower envelope of the lines of all vertices.
#[must_use]
pub fn cost_curve(false_positive: &[f64], true_positive: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut shares, mut costs) = (vec![0.0], vec![0.0]);
    let mut last = 0.0;
    let mut add = |share: f64, cost: f64| {
        if share > last {
            shares.push(share);
            costs.push(cost);
        }
        last = share;
    };
    for (across, up) in false_positive.windows(2).zip(true_positive.windows(2)) {
        let (width, height) = (across[1] - across[0], up[1] - up[0]);
        let share = width / (width + height);
        add(share, (1.0 - up[0]) * share + across[0] * (1.0 - share));
    }
    add(1.0, 0.0);
    (shares, costs)
}

impl HullRates<'_> {
    /// The c at which one vertex takes over from the next, falling: the first vertex is best above the first.
    fn switches(&self) -> impl DoubleEndedIterator<Item = f64> {
        let steps = self.true_positive.windows(2).zip(self.false_positive.windows(2));
        steps.map(|(up, across)| {
            let positive = self.prevalence * (up[1] - up[0]);
            let negative = (1.0 - self.prevalence) * (across[1] - across[0]);
            positive / (positive + negative)
        })
    }

    /// The mean of the smallest loss when c has the distribution Beta(2, b): each vertex between its two switches.
    fn expected_loss(&self, b: f64) -> f64 {
        let bounds: Vec<f64> = std::iter::once(1.0).chain(self.switches()).chain([0.0]).collect();
        let rates = self.false_positive.iter().zip(self.true_positive);
        // c u(c) is the density of Beta(3, b) times 2 / (2 + b), and (1 − c) u(c) that of Beta(2, b + 1) times b / (2 + b).
        let term = |(piece, (fpr, tpr)): (&[f64], (&f64, &f64))| {
            let of_c = (survival_of_3(piece[1], b) - survival_of_3(piece[0], b)) * (2.0 / (2.0 + b));
            let of_rest = (survival_of_2(piece[1], b + 1.0) - survival_of_2(piece[0], b + 1.0)) * (b / (2.0 + b));
            (1.0 - self.prevalence) * fpr * of_c + self.prevalence * (1.0 - tpr) * of_rest
        };
        bounds.windows(2).zip(rates).map(term).sum()
    }
}

/// Hand's H-measure, 1 − ∫ L(c) u(c) dc / ∫ L₀(c) u(c) dc, where u is the density of Beta(2, 1 + 1/`severity_ratio`)
/// and L₀ the smaller loss of calling everything positive or nothing.
#[must_use]
pub fn h_measure(hull: HullRates<'_>, severity_ratio: f64) -> f64 {
    let b = 1.0 + 1.0 / severity_ratio;
    let trivial = HullRates { false_positive: &[0.0, 1.0], true_positive: &[0.0, 1.0], prevalence: hull.prevalence };
    (1.0 - hull.expected_loss(b) / trivial.expected_loss(b)).clamp(0.0, 1.0)
}

/// P(X > x) for Beta(2, b): (1 − x)^b (1 + b x).
fn survival_of_2(x: f64, b: f64) -> f64 {
    powered(x, b, 1.0 + b * x)
}

/// P(X > x) for Beta(3, b): (1 − x)^b (1 + b x + b (b + 1) x² / 2).
fn survival_of_3(x: f64, b: f64) -> f64 {
    powered(x, b, 1.0 + b * x + 0.5 * (b * x) * ((b + 1.0) * x))
}

/// (1 − x)^b times the value of a polynomial; 0 where the power is, however large the polynomial.
fn powered(x: f64, b: f64, polynomial: f64) -> f64 {
    let power = (b * (-x).ln_1p()).exp();
    if power > 0.0 { power * polynomial } else { 0.0 }
}

/// Adams and Hand's LC index: the belief in costs at which A has the smaller loss, less that in costs at which B has.
///
/// Beliefs are a triangular density over `range` with its peak at `most_likely`. Both hulls are of the same rows.
#[must_use]
pub fn lc_index(a: HullRates<'_>, b: HullRates<'_>, range: (f64, f64), most_likely: f64) -> f64 {
    let pair = Pair::new(a, b);
    let at_switches = edges(pair.switches.0.iter().chain(&pair.switches.1).copied().collect(), range);
    // Where, between two edges, the losses of A and B are equal.
    let crossings = at_switches.windows(2).filter_map(|piece| {
        let line = pair.difference(f64::midpoint(piece[0], piece[1]));
        let found = line.0 / (line.0 - line.1);
        (found > piece[0] && found < piece[1]).then_some(found)
    });
    let edges = edges(at_switches.iter().copied().chain(crossings).collect(), range);
    let sign = |piece: &[f64]| {
        let c = f64::midpoint(piece[0], piece[1]);
        let line = pair.difference(c);
        let found = c * line.1 + (1.0 - c) * line.0;
        if found == 0.0 { 0.0 } else { found.signum() }
    };
    let signs: Vec<f64> = edges.windows(2).map(sign).collect();
    // Runs of one sign are integrated at once, so that a model that is always better has exactly 1.
    let (mut index, mut start) = (0.0, 0);
    for run in signs.chunk_by(|x, y| x == y) {
        let belief = |place: usize| triangular(edges[place], range, most_likely);
        index -= run[0] * (belief(start + run.len()) - belief(start));
        start += run.len();
    }
    index.clamp(-1.0, 1.0)
}

/// Two hulls of the same rows.
struct Pair<'a> {
    a: HullRates<'a>,
    b: HullRates<'a>,
    switches: (Vec<f64>, Vec<f64>),
}

impl<'a> Pair<'a> {
    fn new(a: HullRates<'a>, b: HullRates<'a>) -> Self {
        Self { a, b, switches: (a.switches().collect(), b.switches().collect()) }
    }

    /// The loss of A less that of B at c = 0 and at c = 1, along the lines of the vertices that are best at `c`; exactly
    /// 0 for the same vertex.
    fn difference(&self, c: f64) -> (f64, f64) {
        let best = |switches: &[f64]| switches.partition_point(|&switch| switch > c);
        let (of_a, of_b) = (best(&self.switches.0), best(&self.switches.1));
        let more_false = rate_difference(self.a.false_positive[of_a], self.b.false_positive[of_b]);
        let more_found = rate_difference(self.a.true_positive[of_a], self.b.true_positive[of_b]);
        (-self.a.prevalence * more_found, (1.0 - self.a.prevalence) * more_false)
    }
}

/// 0 where two rates differ by rounding alone, as sums of the same weights in another order do.
fn rate_difference(first: f64, second: f64) -> f64 {
    let found = first - second;
    if found.abs() > SAME_RATE * first.max(second) { found } else { 0.0 }
}

/// The range of costs cut at those points that lie within it; those next to each other by rounding are one.
fn edges(mut points: Vec<f64>, (low, high): (f64, f64)) -> Vec<f64> {
    let least = SLIVER * (high - low);
    points.retain(|&point| point > low + least && point < high - least);
    points.sort_by(f64::total_cmp);
    let mut found = vec![low];
    let mut before = low;
    for point in points {
        if point - before > least {
            found.push(point);
        }
        before = point;
    }
    found.push(high);
    found
}

/// The distribution function of the triangular density from low over the peak to high.
fn triangular(x: f64, (low, high): (f64, f64), peak: f64) -> f64 {
    let width = high - low;
    if x >= high {
        1.0
    } else if x <= low {
        0.0
    } else if x < peak {
        (x - low).powi(2) / (width * (peak - low))
    } else {
        1.0 - (high - x).powi(2) / (width * (high - peak))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hull(rates: &[[f64; 4]; 2]) -> HullRates<'_> {
        HullRates { false_positive: &rates[0], true_positive: &rates[1], prevalence: 0.3 }
    }

    const A: [[f64; 4]; 2] = [[0.0, 0.1, 0.4, 1.0], [0.0, 0.5, 0.9, 1.0]];
    const B: [[f64; 4]; 2] = [[0.0, 0.05, 0.5, 1.0], [0.0, 0.3, 0.95, 1.0]];

    /// The smallest loss over the vertices.
    fn loss(hull: HullRates<'_>, c: f64) -> f64 {
        let rates = hull.false_positive.iter().zip(hull.true_positive);
        let losses =
            rates.map(|(fpr, tpr)| c * (1.0 - hull.prevalence) * fpr + (1.0 - c) * hull.prevalence * (1.0 - tpr));
        losses.fold(f64::INFINITY, f64::min)
    }

    fn integral(function: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
        let steps = 200_000_u32;
        let width = (high - low) / f64::from(steps);
        (0..steps).map(|k| function(low + (f64::from(k) + 0.5) * width) * width).sum()
    }

    #[test]
    fn the_h_measure_is_its_integral() {
        let trivial = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]];
        for ratio in [0.2, 1.0, 3.0] {
            let density = |c: f64| c * (1.0 - c).powf(1.0 / ratio);
            let mean = |rates| integral(|c| density(c) * loss(hull(rates), c), 0.0, 1.0);
            let expected = 1.0 - mean(&A) / mean(&trivial);
            assert!((h_measure(hull(&A), ratio) - expected).abs() < 1e-8, "{ratio}");
        }
        let perfect = HullRates { false_positive: &[0.0, 0.0, 1.0], true_positive: &[0.0, 1.0, 1.0], prevalence: 0.3 };
        assert_eq!(h_measure(perfect, 1.0), 1.0);
    }

    #[test]
    fn the_lc_index_is_its_integral() {
        for (low, high, peak) in [(0.1, 0.5, 0.3), (0.0, 1.0, 0.5), (0.2, 0.9, 0.2)] {
            let density = |c: f64| {
                let rising = if peak > low { (c - low) / (peak - low) } else { 1.0 };
                2.0 / (high - low) * if c < peak { rising } else { (high - c) / (high - peak) }
            };
            let better = |c: f64| {
                let difference = loss(hull(&B), c) - loss(hull(&A), c);
                if difference.abs() < 1e-15 { 0.0 } else { difference.signum() }
            };
            let expected = integral(|c| density(c) * better(c), low, high);
            let found = lc_index(hull(&A), hull(&B), (low, high), peak);
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
            assert_eq!(lc_index(hull(&A), hull(&A), (low, high), peak), 0.0);
        }
    }

    #[test]
    fn cost_curves_are_the_smallest_costs_of_vertices() {
        let (shares, costs) = cost_curve(&A[0], &A[1]);
        assert!(shares.windows(2).all(|pair| pair[0] < pair[1]));
        for (share, cost) in shares.into_iter().zip(costs) {
            let of_vertex = A[0].iter().zip(&A[1]).map(|(fpr, tpr)| (1.0 - tpr) * share + fpr * (1.0 - share));
            assert!((of_vertex.fold(f64::INFINITY, f64::min) - cost).abs() < 1e-15);
        }
    }
}
