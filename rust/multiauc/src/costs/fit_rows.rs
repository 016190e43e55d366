//! The rows that a decision rule is fitted to: the same in the same order for any order of rows and columns.

use std::cmp::Ordering;

use super::calibration::LabelledRows;
use crate::float::Score;
use crate::sample::ScoredSample;

/// More rows than this are thinned out for fitting, evenly over the classes and their probabilities.
const FIT_ROWS: usize = 10_000;

/// Rows by class and by the probability of their class; of many those at even distances.
///
/// `columns` are the columns in the order of their labels. Rows that tie are told apart by everything else that is known
/// about them, and groups are numbered by their rows.
pub(super) fn rows_to_fit<T: Score>(
    sample: &ScoredSample<'_, T>,
    groups: Option<&[u32]>,
    columns: &[usize],
    fewest_groups: usize,
) -> LabelledRows {
    let content = Content::new(sample, columns);
    let mut order: Vec<usize> = (0..sample.rows()).filter(|&row| sample.has_row(row)).collect();
    order.sort_by(|&a, &b| content.compare(a, b));
    let mut groups = groups.map(|groups| {
        let numbers = content.number(&order);
        let ranks = rank_groups(&order, &numbers, groups);
        let mut keyed: Vec<(usize, u32, usize)> =
            order.iter().zip(&numbers).map(|(&row, &number)| (number, ranks[groups[row] as usize], row)).collect();
        keyed.sort_by_key(|&(number, rank, _)| (number, rank));
        order = keyed.iter().map(|&(.., row)| row).collect();
        keyed.into_iter().map(|(_, rank, _)| rank).collect::<Vec<u32>>()
    });
    let rows = order.len();
    if rows > FIT_ROWS {
        let mut places: Vec<usize> = (0..FIT_ROWS).map(|k| k * rows / FIT_ROWS).collect();
        add_one_of_each(&mut places, rows, |place| content.codes[order[place]] as usize);
        if let Some(groups) = &mut groups {
            let mut seen: Vec<u32> = places.iter().map(|&place| groups[place]).collect();
            seen.sort_unstable();
            seen.dedup();
            // Without other groups nothing could be tested; of many some are left anyway.
            if seen.len() < fewest_groups {
                add_one_of_each(&mut places, rows, |place| groups[place] as usize);
            }
            *groups = places.iter().map(|&place| groups[place]).collect();
        }
        order = places.into_iter().map(|place| order[place]).collect();
    }
    LabelledRows {
        classes: columns.len(),
        probabilities: order
            .iter()
            .flat_map(|&row| columns.iter().map(move |&c| probability(sample, row, c)))
            .collect(),
        codes: order.iter().map(|&row| content.codes[row] as usize).collect(),
        weights: sample.weights.map(|weights| order.iter().map(|&row| weights[row]).collect()),
        groups,
    }
}

/// The probability of a class; a single score is that of the second of two.
fn probability<T: Score>(sample: &ScoredSample<'_, T>, row: usize, column: usize) -> f64 {
    if sample.has_single_score() && column == 0 {
        return 1.0 - sample.scores.get(row, 1).widened();
    }
    sample.scores.get(row, column).widened()
}

/// What is known about rows, as something to sort by.
struct Content<'a, 's, T> {
    sample: &'a ScoredSample<'s, T>,
    columns: &'a [usize],
    /// The place of each row's class among the sorted labels.
    codes: Vec<u32>,
    /// The probability of the true class, and that of any.
    own_and_largest: Vec<(f64, f64)>,
}

impl<'a, 's, T: Score> Content<'a, 's, T> {
    fn new(sample: &'a ScoredSample<'s, T>, columns: &'a [usize]) -> Self {
        let mut places = vec![0; columns.len()];
        columns.iter().enumerate().for_each(|(place, &column)| places[column] = place as u32);
        let largest = |row: usize| {
            (0..columns.len()).map(|column| probability(sample, row, column)).fold(f64::NEG_INFINITY, f64::max)
        };
        let rows = 0..sample.rows();
        Self {
            sample,
            columns,
            codes: rows.clone().map(|row| places[sample.codes.get(row)]).collect(),
            own_and_largest: rows.map(|row| (probability(sample, row, sample.codes.get(row)), largest(row))).collect(),
        }
    }

    /// By class, by the probability of the class, by the largest, then by all scores and the weight.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (first, second) = (self.own_and_largest[a], self.own_and_largest[b]);
        let by_number = |x: f64, y: f64| x.partial_cmp(&y).unwrap_or(Ordering::Equal);
        self.codes[a]
            .cmp(&self.codes[b])
            .then_with(|| by_number(first.0, second.0))
            .then_with(|| by_number(first.1, second.1))
            .then_with(|| self.keys(a).cmp(self.keys(b)))
    }

    /// Scores in the order of the labels and the weight, as whole numbers that are equal where these are. Any order
    /// would do; this is that of their bytes.
    fn keys(&self, row: usize) -> impl Iterator<Item = u64> {
        let single = self.sample.has_single_score();
        let columns = if single { &[1][..] } else { self.columns };
        let scores = columns.iter().map(move |&column| self.sample.scores.get(row, column).widened());
        // Plus zero, so that both zeros are one.
        scores.chain(self.sample.weights.map(|weights| weights[row])).map(|x| (x + 0.0).to_bits().swap_bytes())
    }

    /// A rising number for each row of an order, the same for rows that are alike.
    fn number(&self, order: &[usize]) -> Vec<usize> {
        let mut number = 0;
        let mut numbers = vec![0; order.len().min(1)];
        for pair in order.windows(2) {
            number += usize::from(self.compare(pair[0], pair[1]) != Ordering::Equal);
            numbers.push(number);
        }
        numbers
    }
}

/// The rank of each group by the contents of its rows, not by its number or its first row.
fn rank_groups(order: &[usize], numbers: &[usize], groups: &[u32]) -> Vec<u32> {
    let count = groups.iter().map(|&group| group as usize + 1).max().unwrap_or(0);
    let mut contents: Vec<(Vec<usize>, usize)> = (0..count).map(|group| (Vec::new(), group)).collect();
    for (&row, &number) in order.iter().zip(numbers) {
        contents[groups[row] as usize].0.push(number);
    }
    contents.retain(|(rows, _)| !rows.is_empty());
    contents.sort();
    let mut ranks = vec![0; count];
    contents.iter().enumerate().for_each(|(rank, &(_, group))| ranks[group] = rank as u32);
    ranks
}

/// Adds to sorted places the first of each kind that none of them has.
fn add_one_of_each(places: &mut Vec<usize>, count: usize, kind: impl Fn(usize) -> usize) {
    let kinds = (0..count).map(&kind).max().map_or(0, |last| last + 1);
    let mut is_seen = vec![false; kinds];
    for &place in &*places {
        is_seen[kind(place)] = true;
    }
    for place in 0..count {
        if !std::mem::replace(&mut is_seen[kind(place)], true) {
            places.push(place);
        }
    }
    places.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::{Cancel, Workers};
    use crate::sample::{ClassCodes, ScoreMatrix};

    type Known = (Vec<f64>, Vec<usize>, Option<Vec<f64>>, Option<Vec<u32>>);

    fn fitted(rows: usize, columns: &[usize], order: impl Fn(usize) -> usize) -> Known {
        // Few distinct values, so that there are ties.
        let scores: Vec<f64> = (0..rows)
            .map(&order)
            .flat_map(|k| columns.iter().map(move |&c| ((k * k + 3 * k * (c + 1)) % 5) as f64 / 5.0))
            .collect();
        let place = |class: usize| columns.iter().position(|&column| column == class).unwrap_or(0) as u8;
        let codes: Vec<u8> = (0..rows).map(&order).map(|k| place(k % 7 % 3)).collect();
        let weights: Vec<f64> = (0..rows).map(&order).map(|k| (k % 4) as f64).collect();
        let groups: Vec<u32> = (0..rows).map(&order).map(|k| (k % 50) as u32).collect();
        let mut back = vec![0; columns.len()];
        columns.iter().enumerate().for_each(|(place, &column)| back[column] = place);
        let cancel = Cancel::new();
        let workers = Workers::with_threads(1, &cancel);
        let matrix = ScoreMatrix::from_rows(&scores, columns.len()).expect("scores");
        let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), Some(&weights), &workers).expect("a sample");
        let found = rows_to_fit(&sample, Some(&groups), &back, 5);
        (found.probabilities, found.codes, found.weights, found.groups)
    }

    #[test]
    fn neither_the_order_of_rows_nor_that_of_columns_matters() {
        for rows in [211, 23_003] {
            let expected = fitted(rows, &[0, 1, 2], |k| k);
            assert_eq!(expected.1.len(), if rows > 20_000 { FIT_ROWS } else { rows - rows.div_ceil(4) });
            assert_eq!(fitted(rows, &[0, 1, 2], |k| (k * 10 + 3) % rows), expected);
            assert_eq!(fitted(rows, &[2, 0, 1], |k| rows - 1 - k), expected);
        }
    }

    #[test]
    fn every_kind_is_there() {
        let mut places = vec![0, 4, 8];
        add_one_of_each(&mut places, 10, |place| [0, 0, 1, 0, 0, 2, 2, 1, 0, 0][place]);
        assert_eq!(places, [0, 2, 4, 5, 8]);
    }
}
