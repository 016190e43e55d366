//! Tuples drawn at random, where there are too many to go through.
//!
//! Tuples are drawn in rounds. In a round every class's rows are shuffled and used in turn, again and again until the
//! largest class is used up (Latin-hypercube tuples): each row is used equally often, which takes what rows contribute one
//! by one out of the error of drawing.

use super::amounts::Amount;
use super::assignment::{Assignment, MOST_STEPS};
use super::whole_scores::WholeScores;
use crate::error::Result;
use crate::parallel::Workers;
use crate::random::Stream;
use crate::sample::ClassRows;

/// When to stop drawing, and from where the tuples come.
#[derive(Debug, Clone, Copy)]
pub struct Drawing {
    /// The standard error of drawing at which to stop.
    pub precision: f64,
    /// The seed of the tuples.
    pub seed: u64,
    /// Whether each row is used equally often; otherwise every row of a tuple is drawn from all of its class.
    pub is_latin: bool,
    /// Whether to go on until drawing adds next to nothing to the standard error over rows.
    pub is_negligible: bool,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { precision: 1e-3, seed: 0, is_latin: true, is_negligible: true }
    }
}

/// What drawing found.
pub(super) struct DrawnTuples {
    pub value: f64,
    pub monte_carlo_error: f64,
    /// By position, the mean credit of the tuples through it, with what drawing adds to its spread taken out.
    pub means: Vec<f64>,
}

/// Fewer tuples are not worth a round.
const SMALLEST_ROUND: usize = 512;
/// Rounds until the first look at the error, and between looks.
const ROUNDS: u32 = 8;
/// Rounds from which on their own spread says how large the error is.
const ENOUGH_ROUNDS: usize = 32;
/// How many times smaller than the standard error over rows an error is that adds next to nothing to it.
const NEGLIGIBLE: f64 = 5.0;

pub(super) fn draw<A: Amount>(
    whole: &WholeScores<A>,
    rows: &ClassRows,
    drawing: Drawing,
    workers: &Workers<'_>,
) -> Result<DrawnTuples> {
    let columns: Vec<usize> = (0..whole.classes).collect();
    let largest = rows.present().iter().map(|&class| rows.range(class).len()).max().unwrap_or(0);
    let mut sums = Sums {
        round: largest.max(SMALLEST_ROUND),
        of_rounds: Vec::new(),
        squares: 0.0,
        of_rows: vec![OfRow::default(); rows.len()],
    };
    let mut steps = 0;
    for round in 0.. {
        let tuples = positions(rows, sums.round, round, drawing);
        let (credits, taken) = credits(whole, &columns, &tuples, sums.round, workers)?;
        sums.add(&tuples, &credits);
        steps += taken;
        // Where counting ties takes long, a look at the error is cheap beside it.
        let is_look = (round + 1) % ROUNDS == 0 || steps > MOST_STEPS;
        if is_look && sums.error() <= drawing.precision && (!drawing.is_negligible || sums.is_negligible(rows)) {
            break;
        }
    }
    Ok(DrawnTuples { value: sums.value(), monte_carlo_error: sums.error(), means: sums.means(rows) })
}

/// The positions of the tuples of a round, class by class.
fn positions(rows: &ClassRows, round: usize, number: u32, drawing: Drawing) -> Vec<Vec<u32>> {
    let of_class = |(stratum, &class): (u32, &usize)| {
        let range = rows.range(class);
        let mut stream = Stream::new(drawing.seed, number, stratum);
        let mut shuffled: Vec<u32> = range.map(|position| position as u32).collect();
        let size = shuffled.len() as u32;
        if !drawing.is_latin {
            return (0..round).map(|_| shuffled[stream.below(size) as usize]).collect();
        }
        let mut drawn = Vec::with_capacity(round);
        while drawn.len() < round {
            // Fisher and Yates, as far as needed.
            let wanted = shuffled.len().min(round - drawn.len());
            for place in 0..wanted {
                let other = place + stream.below(size - place as u32) as usize;
                shuffled.swap(place, other);
            }
            drawn.extend_from_slice(&shuffled[..wanted]);
        }
        drawn
    };
    (0..).zip(rows.present()).map(of_class).collect()
}

/// The credit of each tuple of a round, and the steps of counting ties.
fn credits<A: Amount>(
    whole: &WholeScores<A>,
    columns: &[usize],
    tuples: &[Vec<u32>],
    round: usize,
    workers: &Workers<'_>,
) -> Result<(Vec<f64>, u64)> {
    const CHUNK: usize = 1024;
    let mut credits = vec![0.0; round];
    let steps = workers.map_chunks(&mut credits, CHUNK, |chunk, credits| {
        let mut tuple = Assignment::new(columns);
        let mut steps = 0;
        for (place, credit) in credits.iter_mut().enumerate() {
            tuple.clear();
            let is_right = tuples.iter().all(|drawn| tuple.push(whole.of(drawn[chunk * CHUNK + place] as usize)));
            if is_right {
                let best = tuple.count_best()?;
                *credit = best.assignments.recip();
                steps += best.steps;
                if best.steps > 0 {
                    workers.check()?;
                }
            }
        }
        Ok(steps)
    })?;
    Ok((credits, steps.iter().sum()))
}

#[derive(Debug, Clone, Copy, Default)]
struct OfRow {
    uses: f64,
    credits: f64,
    squares: f64,
}

struct Sums {
    /// Tuples of a round.
    round: usize,
    /// The mean credit of each round.
    of_rounds: Vec<f64>,
    /// Σ credit².
    squares: f64,
    of_rows: Vec<OfRow>,
}

impl Sums {
    fn add(&mut self, tuples: &[Vec<u32>], credits: &[f64]) {
        self.of_rounds.push(credits.iter().sum::<f64>() / self.round as f64);
        self.squares += credits.iter().map(|credit| credit * credit).sum::<f64>();
        for drawn in tuples {
            for (&position, &credit) in drawn.iter().zip(credits) {
                let row = &mut self.of_rows[position as usize];
                row.uses += 1.0;
                row.credits += credit;
                row.squares += credit * credit;
            }
        }
    }

    fn tuples(&self) -> f64 {
        self.of_rounds.len() as f64 * self.round as f64
    }

    fn value(&self) -> f64 {
        mean(&self.of_rounds)
    }

    /// The standard error of drawing: from the spread of rounds where there are enough of them, otherwise that of
    /// independent tuples, which is no smaller. Never 0: so many tuples cannot rule out that one in so many differs.
    fn error(&self) -> f64 {
        let rounds = self.of_rounds.len();
        let variance = if rounds >= ENOUGH_ROUNDS {
            variance(&self.of_rounds) / rounds as f64
        } else {
            (self.squares / self.tuples() - self.value().powi(2)).max(0.0) / self.tuples()
        };
        variance.sqrt().max(self.tuples().recip())
    }

    /// Whether drawing adds next to nothing to the standard error over rows, or rows do not differ.
    fn is_negligible(&self, rows: &ClassRows) -> bool {
        let over_rows = self.row_error(rows);
        NEGLIGIBLE * self.error() <= over_rows || over_rows == 0.0 && self.of_rounds.len() >= ENOUGH_ROUNDS
    }

    /// The standard error over rows.
    fn row_error(&self, rows: &ClassRows) -> f64 {
        let means = self.means(rows);
        let of_class = |&class: &usize| {
            let of_rows = &means[rows.range(class)];
            if of_rows.len() < 2 { 0.0 } else { variance(of_rows) / of_rows.len() as f64 }
        };
        rows.present().iter().map(of_class).sum::<f64>().sqrt()
    }

    /// Means of few tuples vary more than those of all: by v/m for m tuples of variance v. Within each class the means are
    /// drawn together until their variance is what is left without it.
    fn means(&self, rows: &ClassRows) -> Vec<f64> {
        let value = self.value();
        let mean_of = |row: &OfRow| if row.uses > 0.0 { row.credits / row.uses } else { value };
        let mut means: Vec<f64> = self.of_rows.iter().map(mean_of).collect();
        for &class in rows.present() {
            let (of_rows, means) = (&self.of_rows[rows.range(class)], &mut means[rows.range(class)]);
            if means.len() < 2 {
                continue;
            }
            let within: f64 = of_rows.iter().zip(&*means).map(|(row, mean)| row.squares - row.credits * mean).sum();
            let freedom: f64 = of_rows.iter().map(|row| (row.uses - 1.0).max(0.0)).sum();
            let each = of_rows.iter().map(|row| row.uses.max(1.0).recip()).sum::<f64>() / means.len() as f64;
            let noise = (within / freedom.max(1.0)).max(0.0) * each;
            let spread = variance(means);
            let factor = if spread > noise { (1.0 - noise / spread).sqrt() } else { 0.0 };
            let center = mean(means);
            for mean in means {
                *mean = center + factor * (*mean - center);
            }
        }
        means
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}
