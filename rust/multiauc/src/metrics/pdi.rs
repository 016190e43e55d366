//! The polytomous discrimination index (Van Calster et al. 2012): of one row of every class, how often the score of a
//! class is highest for its own row.

use super::tie_credits::{Beside, TieCredits};
use super::waves::in_waves;
use crate::error::Result;
use crate::float::Score;
use crate::inference::{Contribution, Design, Statistic, add};
use crate::memory::Pool;
use crate::metric::Metric;
use crate::pairs::{column_order, gathered_column_order, map_columns, weighted_mean};
use crate::parallel::Workers;
use crate::ranking::{Nearness, Order, OrderedRows, PlacementTable};
use crate::sample::{ClassRows, ScoredSample};

/// PDI = (1/K) Σ_k PDI_k. PDI_k is the probability that of K rows, one of each class, the row of class k has the highest
/// score of column k; where t others tie with it the credit is 1/(1 + t). Chance is 1/K, perfect 1.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
///
/// # Examples
/// ```
/// use multiauc::{Cancel, ClassCodes, ScoreMatrix, ScoredSample, Workers, pdi};
/// let cancel = Cancel::new();
/// let workers = Workers::with_threads(1, &cancel);
/// let matrix = ScoreMatrix::from_rows(&[0.5; 12], 3)?;
/// let sample = ScoredSample::new(matrix, ClassCodes::Bytes(&[0, 1, 2, 2]), None, &workers)?;
/// assert!((pdi(&sample, &workers)? - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), multiauc::Error>(())
/// ```
pub fn pdi<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<f64> {
    average(&pdi_per_class(sample, workers)?)
}

/// Larger tables would not stay in the cache: then sorting all rows in parts is better.
const LARGEST_TABLE: usize = 1 << 18;

/// Memory reused from column to column.
#[derive(Debug, Default)]
struct ColumnScratch {
    ordered: OrderedRows,
    table: PlacementTable,
    places: Vec<f64>,
    /// By rank of the own rows and other class: how many rows of the class lie below it, and how many tie with it.
    below: Vec<u32>,
    tied: Vec<u32>,
    /// At one rank, the part of each class below it, as bits that sort like the numbers.
    parts_below: Vec<u64>,
    /// The same of all other classes, by rank.
    beside: Vec<[u64; 2]>,
}

/// PDI_k of every class; NaN for absent classes.
///
/// # Errors
/// As [`pdi`].
pub fn pdi_per_class<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<Vec<f64>> {
    let (rows, class_of) = with_classes(sample, workers)?;
    let present = rows.present();
    let found = map_columns(sample, &rows, present, workers, ColumnScratch::default, |scratch, index, blocks| {
        let column = Column::new(&rows, &class_of, present[index]);
        let run = |class: usize| blocks.run(class, column.class);
        if rows.weights().is_none() && run(column.class).len() <= LARGEST_TABLE {
            return Ok(column.value_by_table(run, scratch));
        }
        let order = gathered_column_order(&rows, run, column.class, &mut scratch.ordered);
        Ok(column.value(&order, |position| rows.mass(position)))
    })?;
    let mut values = vec![f64::NAN; rows.classes()];
    rows.present().iter().zip(found).for_each(|(&class, value)| values[class] = value);
    Ok(values)
}

/// PDI with the components of the rows: T(i) is the mean credit of the tuples through row i.
pub(super) fn pdi_statistic<T: Score>(
    sample: &ScoredSample<'_, T>,
    design: &Design,
    workers: &Workers<'_>,
) -> Result<Statistic> {
    let (rows, class_of) = (&design.rows, design.rows.class_of());
    let mut values = vec![f64::NAN; rows.classes()];
    let mut components = [vec![0.0; rows.len()]];
    let place_column = |(): &mut (), index: usize| {
        let column = Column::new(rows, &class_of, rows.present()[index]);
        let order = column_order(sample, rows, column.class, None);
        let value = column.value(&order, |position| rows.mass(position));
        Ok((column.class, value, column.mean_credits(&order, rows)))
    };
    in_waves(workers, &Pool::default(), (rows.present().len(), 1), place_column, |wave| {
        let mut contributions = Vec::with_capacity(wave.len());
        for (class, value, credits) in &wave {
            values[*class] = *value;
            let coefficients = vec![1.0 / rows.present().len() as f64];
            contributions.push(Contribution { start: 0, values: credits, coefficients });
        }
        add(&mut components, &contributions, workers)
    })?;
    let [components] = components;
    // Class sizes do not matter: a tuple has one row of each class.
    let slopes = vec![0.0; rows.classes()];
    let chances = Some(vec![1.0 / rows.present().len() as f64; rows.classes()]);
    Ok(Statistic {
        id: Metric::Pdi,
        value: average(&values)?,
        components: components.into(),
        slopes,
        chances,
        worst: None,
    })
}

fn with_classes<T: Score>(sample: &ScoredSample<'_, T>, workers: &Workers<'_>) -> Result<(ClassRows, Vec<u16>)> {
    let rows = ClassRows::new(sample, workers)?;
    let class_of = rows.class_of();
    Ok((rows, class_of))
}

/// The mean over the classes that have a value.
fn average(values: &[f64]) -> Result<f64> {
    weighted_mean(values.iter().filter(|value| !value.is_nan()).map(|&value| (1.0, value)).collect())
}

/// The column of a class, and the rows that it ranks.
pub(crate) struct Column<'c> {
    class: usize,
    /// The other classes that have rows.
    others: Vec<usize>,
    /// The class of each position.
    class_of: &'c [u16],
    /// The mass of each class: its rows or its weight.
    totals: &'c [f64],
}

impl<'c> Column<'c> {
    fn new(rows: &'c ClassRows, class_of: &'c [u16], class: usize) -> Self {
        Self::of_masses(rows, class_of, &rows.sizes().weights, class)
    }

    /// The same for other masses of the rows, such as those of a bootstrap sample.
    pub(crate) fn of_masses(rows: &ClassRows, class_of: &'c [u16], totals: &'c [f64], class: usize) -> Self {
        Self { class, others: rows.others(class).collect(), class_of, totals }
    }

    /// PDI_k: the mean credit of the column's own rows, going up their order.
    pub(crate) fn value(&self, order: &Order, mass: impl Fn(u32) -> f64) -> f64 {
        // Summed as below: weights in another order might leave a class that is wholly below short of its total.
        let mut totals = vec![0.0; self.totals.len()];
        for &other in order.steps().flat_map(|step| step.others) {
            totals[self.class_of[other as usize] as usize] += mass(other);
        }
        let mut passed = vec![Beside::default(); self.totals.len()];
        let mut beside = Vec::with_capacity(self.others.len());
        let mut tie_credits = TieCredits::default();
        let (mut credit, mut total) = (0.0, 0.0);
        for step in order.steps() {
            let own: f64 = step.own.iter().map(|&position| mass(position)).sum();
            if step.is_tied {
                for &other in step.others {
                    passed[self.class_of[other as usize] as usize].tied += mass(other);
                }
            }
            if own > 0.0 {
                beside.clear();
                beside.extend(self.others.iter().map(|&class| Beside {
                    below: passed[class].below / totals[class],
                    tied: (passed[class].tied / totals[class]).min(1.0),
                }));
                credit += own * tie_credits.mean_credit(&mut beside);
                total += own;
            }
            for &other in step.others {
                let passed = &mut passed[self.class_of[other as usize] as usize];
                (passed.below, passed.tied) = (passed.below + mass(other), 0.0);
            }
        }
        (credit / total).min(1.0)
    }

    /// The same where rows have no weights, from the scores of the column class by class: only the own rows are sorted, the
    /// others are looked up among them. The same bits, since own rows that nothing lies between are added together.
    fn value_by_table<'b, T: Score + 'b>(&self, run: impl Fn(usize) -> &'b [T], scratch: &mut ColumnScratch) -> f64 {
        let ColumnScratch { table, places, below, tied, beside: of_all, parts_below, .. } = scratch;
        let width = self.others.len();
        let totals: Vec<f64> = self.others.iter().map(|&class| self.totals[class]).collect();
        table.build(run(self.class), None);
        let ranks = table.len();
        for counts in [&mut *below, &mut *tied] {
            counts.clear();
            counts.resize(ranks * width, 0);
        }
        of_all.clear();
        of_all.resize(ranks, [0, 0]);
        for (place, &class) in self.others.iter().enumerate() {
            let scores = run(class);
            places.resize(scores.len(), 0.0);
            table.look_up(scores, None, Nearness::NEVER, |below| below, places);
            table.for_each_rank(|rank, lower, equal| {
                below[rank * width + place] = lower;
                if equal > 0 {
                    tied[rank * width + place] = equal;
                }
                of_all[rank] = [of_all[rank][0] + u64::from(lower), of_all[rank][1] + u64::from(equal)];
            });
        }
        let mut beside = Vec::with_capacity(self.others.len());
        let mut tie_credits = TieCredits::default();
        let (mut credit, mut total, mut rank) = (0.0, 0.0, 0);
        for alike in of_all.chunk_by(|a, b| a == b) {
            let own = alike.len() as f64;
            let at_rank = rank * width..(rank + 1) * width;
            let (below, tied) = (parts(&below[at_rank.clone()], &totals), parts(&tied[at_rank], &totals));
            if alike[0][1] == 0 {
                credit += own * credit_without_ties(below, parts_below);
            } else {
                beside.clear();
                beside.extend(below.zip(tied).map(|(below, tied)| Beside { below, tied }));
                credit += own * tie_credits.mean_credit(&mut beside);
            }
            total += own;
            rank += alike.len();
        }
        (credit / total).min(1.0)
    }

    /// By position, the mean credit of the tuples through each row, going down the order. A row of another class sees the
    /// own rows above it, and half-way those it ties with.
    fn mean_credits(&self, order: &Order, rows: &ClassRows) -> Vec<f64> {
        let own_total = self.totals[self.class];
        let mut place_of = vec![usize::MAX; self.totals.len()];
        self.others.iter().enumerate().for_each(|(place, &class)| place_of[class] = place);
        let mut remaining: Vec<Remaining> =
            self.others.iter().map(|&class| Remaining { rows: rows.count(class), mass: self.totals[class] }).collect();
        let mut tied = vec![0.0; self.others.len()];
        // Σ over the own rows above of mass · (mean credit of tuples through them and a row of the class below them).
        let mut won_above = vec![0.0; self.others.len()];
        let mut credits = vec![0.0; rows.len()];
        let mut beside = Vec::with_capacity(self.others.len());
        let mut tie_credits = TieCredits::default();
        for step in order.steps_down() {
            for &other in step.others {
                let place = place_of[self.class_of[other as usize] as usize];
                credits[other as usize] = won_above[place] / own_total;
                remaining[place].remove(rows.mass(other));
                tied[place] += if step.is_tied { rows.mass(other) } else { 0.0 };
            }
            if step.own.is_empty() {
                continue;
            }
            beside.clear();
            beside.extend(self.others.iter().zip(&remaining).zip(&tied).map(|((&class, remaining), tied)| Beside {
                below: (remaining.mass / self.totals[class]).clamp(0.0, 1.0),
                tied: tied / self.totals[class],
            }));
            let own: f64 = step.own.iter().map(|&position| rows.mass(position)).sum();
            let without = tie_credits.credits_without(&beside);
            if step.is_tied {
                for &other in step.others {
                    let place = place_of[self.class_of[other as usize] as usize];
                    credits[other as usize] += own * without.of_tied[place] / own_total;
                }
            }
            for (sum, credit) in won_above.iter_mut().zip(&without.of_lower) {
                *sum += own * credit;
            }
            let credit = tie_credits.mean_credit(&mut beside);
            step.own.iter().for_each(|&position| credits[position as usize] = credit);
            tied.fill(0.0);
        }
        credits
    }
}

/// Each count as a part of its total.
fn parts<'c>(counts: &'c [u32], totals: &'c [f64]) -> impl Iterator<Item = f64> + 'c {
    counts.iter().zip(totals).map(|(&count, total)| f64::from(count) / total)
}

/// [`TieCredits::mean_credit`] where nothing ties: the product of the parts below, from the smallest up.
fn credit_without_ties(parts_below: impl Iterator<Item = f64>, sorted: &mut Vec<u64>) -> f64 {
    sorted.clear();
    // Numbers that are not negative sort like their bits, and those faster.
    sorted.extend(parts_below.map(f64::to_bits));
    if sorted.contains(&0) {
        return 0.0;
    }
    sorted.sort_unstable();
    sorted.iter().map(|&bits| f64::from_bits(bits)).product()
}

/// What is left of a class below the present place: exactly nothing after its last row, whatever sums of weights round to.
struct Remaining {
    rows: u64,
    mass: f64,
}

impl Remaining {
    fn remove(&mut self, mass: f64) {
        self.rows -= 1;
        self.mass = if self.rows == 0 { 0.0 } else { self.mass - mass };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;
    use crate::sample::{ClassCodes, ScoreMatrix};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn own_rows_alone_are_sorted_for_the_same_bits(
            cells in prop::collection::vec((0.0..1.0_f64, 0_u32..30), 12..900),
            classes in 2_usize..6,
            tied_proportion in 0.0..1.0_f64,
        ) {
            let count = cells.len() / classes;
            let scores: Vec<f64> = cells[..count * classes]
                .iter()
                .map(|&(x, k)| if x < tied_proportion { f64::from(k) / 30.0 } else { x })
                .collect();
            let codes: Vec<u8> = (0..count).map(|row| (row * row % 7 % classes) as u8).collect();
            let cancel = Cancel::new();
            let workers = Workers::with_threads(1, &cancel);
            let matrix = ScoreMatrix::from_rows(&scores, classes).expect("a matrix");
            let Ok(sample) = ScoredSample::new(matrix, ClassCodes::Bytes(&codes), None, &workers) else { return Ok(()) };
            let (rows, class_of) = with_classes(&sample, &workers).expect("no one cancels");
            let found = pdi_per_class(&sample, &workers).expect("values");
            for &class in rows.present() {
                let column = Column::new(&rows, &class_of, class);
                let sorted = column.value(&column_order(&sample, &rows, class, None), |_| 1.0);
                prop_assert_eq!(found[class].to_bits(), sorted.to_bits());
            }
        }
    }
}
