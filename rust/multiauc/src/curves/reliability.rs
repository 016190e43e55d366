//! Observed frequencies of a class, by its predicted probability.

use crate::error::Result;
use crate::float::Score;
use crate::parallel::Workers;
use crate::sample::ScoredSample;

/// The bins of one class that have rows, by rising probability.
#[derive(Debug, Clone, PartialEq)]
pub struct ReliabilityPoints {
    /// Mean probability of the class.
    pub predicted: Vec<f64>,
    /// Share of the rows that belong to the class.
    pub observed: Vec<f64>,
    /// Number of rows.
    pub rows: Vec<u64>,
    /// The same; with weights, as many rows of equal weight as inform as well (Kish).
    pub sizes: Vec<f64>,
}

/// The curves of some classes, by bins of the same width, or else with the same number of rows; NaN for a class without
/// rows.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn reliability_curves<T: Score>(
    sample: &ScoredSample<'_, T>,
    classes: &[usize],
    bins: usize,
    are_uniform: bool,
    workers: &Workers<'_>,
) -> Result<Vec<ReliabilityPoints>> {
    let rows: Vec<usize> = (0..sample.rows()).filter(|&row| sample.has_row(row)).collect();
    workers.map(classes.len(), |k| {
        let class = classes[k];
        if sample.sizes().rows[class] == 0 {
            let nan = vec![f64::NAN];
            return Ok(ReliabilityPoints { predicted: nan.clone(), observed: nan.clone(), rows: vec![0], sizes: nan });
        }
        let probabilities: Vec<f64> = rows.iter().map(|&row| sample.scores.probability(row, class)).collect();
        let (bin_of, count) = bins_with_rows(&probabilities, bins, are_uniform);
        let mut found = vec![Bin::default(); count];
        for ((&row, &probability), &bin) in rows.iter().zip(&probabilities).zip(&bin_of) {
            let weight = sample.weights.map_or(1.0, |weights| weights[row]);
            found[bin as usize].add(weight, probability, sample.codes.get(row) == class);
        }
        Ok(ReliabilityPoints {
            predicted: found.iter().map(|bin| bin.predicted / bin.weight).collect(),
            observed: found.iter().map(|bin| bin.observed / bin.weight).collect(),
            rows: found.iter().map(|bin| bin.rows).collect(),
            sizes: found.iter().map(|bin| bin.weight * bin.weight / bin.squares).collect(),
        })
    })
}

/// Sums over the rows of a bin.
#[derive(Debug, Clone, Default)]
struct Bin {
    rows: u64,
    weight: f64,
    squares: f64,
    predicted: f64,
    observed: f64,
}

impl Bin {
    fn add(&mut self, weight: f64, probability: f64, is_of_class: bool) {
        self.rows += 1;
        self.weight += weight;
        self.squares += weight * weight;
        self.predicted += weight * probability;
        self.observed += if is_of_class { weight } else { 0.0 };
    }
}

/// (the bin of each probability, how many bins there are), those without rows left out. A probability on an edge belongs
/// to the lower bin.
fn bins_with_rows(probabilities: &[f64], bins: usize, are_uniform: bool) -> (Vec<u32>, usize) {
    let mut order: Vec<u32> = (0..probabilities.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| probabilities[a as usize].total_cmp(&probabilities[b as usize]));
    let step = 1.0 / bins as f64;
    // The upper edge of a bin.
    let edge = |bin: usize| {
        let share = (bin + 1) as f64 * step;
        if are_uniform { share } else { quantile(share, order.len(), |place| probabilities[order[place] as usize]) }
    };
    let (mut bin_of, mut bin, mut count, mut last) = (vec![0; order.len()], 0, 0, None);
    for &row in &order {
        // The first bin from this one on whose upper edge is not below: by halves, as there may be very many.
        let mut highest = if bin + 1 < bins && edge(bin) < probabilities[row as usize] { bins - 1 } else { bin };
        while bin < highest {
            let middle = bin + (highest - bin) / 2;
            if edge(middle) < probabilities[row as usize] {
                bin = middle + 1;
            } else {
                highest = middle;
            }
        }
        count += usize::from(last.replace(bin) != Some(bin));
        bin_of[row as usize] = count as u32 - 1;
    }
    (bin_of, count)
}

/// The value below which a share of sorted values lies, linear between two of them.
fn quantile(share: f64, count: usize, sorted: impl Fn(usize) -> f64) -> f64 {
    // As NumPy computes it, of a percentage.
    let place = (count - 1) as f64 * (100.0 * share / 100.0);
    let before = place as usize;
    if before + 1 >= count {
        return sorted(count - 1);
    }
    let (low, high, part) = (sorted(before), sorted(before + 1), place - before as f64);
    if part < 0.5 { low + (high - low) * part } else { high - (high - low) * (1.0 - part) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};

    fn curves(
        scores: &[f64],
        codes: &[u8],
        weights: Option<&[f64]>,
        bins: usize,
        are_uniform: bool,
    ) -> ReliabilityPoints {
        let cancel = Cancel::new();
        let workers = Workers::with_threads(2, &cancel);
        let matrix = ScoreMatrix::from_rows(scores, 1).expect("a matrix");
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(codes), weights, &workers).expect("a sample");
        reliability_curves(&sample, &[1], bins, are_uniform, &workers).expect("a curve").remove(0)
    }

    const SCORES: [f64; 6] = [0.9, 0.25, 0.375, 0.5, 0.75, 0.125];
    const CODES: [u8; 6] = [1, 1, 0, 0, 1, 0];

    #[test]
    fn bins_hold_the_same_number_of_rows_or_have_the_same_width() {
        let found = curves(&SCORES, &CODES, None, 2, false);
        assert_eq!((found.predicted, found.observed), (vec![0.25, 2.15 / 3.0], vec![1.0 / 3.0, 2.0 / 3.0]));
        // One half is on the edge, and the last bins have no rows.
        let found = curves(&[0.5, 0.25, 0.5, 0.25], &[0, 1, 0, 0], None, 4, true);
        assert_eq!((found.predicted, found.observed), (vec![0.25, 0.5], vec![0.5, 0.0]));
        assert_eq!((found.rows, found.sizes), (vec![2, 2], vec![2.0, 2.0]));
        assert_eq!(curves(&SCORES, &CODES, None, usize::MAX, true).rows, [1; 6]);
    }

    #[test]
    fn weights_count_and_rows_of_weight_zero_do_not() {
        let found = curves(&SCORES, &CODES, Some(&[1.0, 2.0, 1.0, 1.0, 0.0, 0.0]), 1, false);
        assert_eq!((found.observed, found.rows, found.sizes), (vec![0.6], vec![4], vec![25.0 / 7.0]));
    }
}
