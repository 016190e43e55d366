//! Random weighted samples, each named by a seed and a number.

use std::fmt;

use crate::random::Stream;

/// One case in this many has classes so large that their tables are split; one that they leave the cache.
const CASES_PER_LARGE: u64 = 1 << 13;
/// Rows of the first: more than twice those of the smallest table that is split.
const SPLIT_ROWS: usize = 300_000;
/// Rows of the second: more than twice those of the smallest table that is prefetched.
const PREFETCHED_ROWS: usize = 80_000;
/// Cases of more rows are not printed, nor made smaller.
const MOST_PRINTED_ROWS: usize = 1000;

/// A sample with weights, and what it is compared with.
#[derive(Clone)]
pub(super) struct Case {
    pub seed: u64,
    pub number: u64,
    pub classes: usize,
    /// Whether scores are compared as singles.
    pub is_single: bool,
    /// Whether several threads have to find the same bits.
    pub has_threads: bool,
    /// Whether weights are whole numbers, so that all sums are exact.
    pub has_whole_weights: bool,
    pub codes: Vec<u8>,
    pub weights: Vec<f64>,
    /// Row by row.
    pub scores: Vec<f64>,
    /// A partition matrix, row by row.
    pub costs: Option<Vec<f64>>,
}

/// What scores look like.
#[derive(Debug, Clone, Copy)]
enum Scores {
    Smooth,
    /// Many close to 0 and to 1, and exactly there.
    Saturated,
    Decimals(i32),
    /// Fractions with denominators up to this.
    Fractions(u32),
    /// Multiples of one number, of both signs.
    Lattice(u32),
    FarApart,
    /// A few neighbouring floating-point numbers.
    Neighbours,
    /// So small that products of two vanish.
    Subnormal,
    /// So large that sums of two overflow.
    Huge,
    Constant,
}

impl Scores {
    fn draw_kind(random: &mut Stream) -> Self {
        match random.below(14) {
            0 | 1 => Self::Smooth,
            2 => Self::Saturated,
            3 | 4 => Self::Decimals(1 + random.below(7) as i32),
            5 => Self::Fractions(17),
            6 => Self::Fractions(1000),
            7 => Self::Lattice(1 + random.below(12)),
            8 => Self::Lattice(1 + random.below(1 << 20)),
            9 => Self::FarApart,
            10 => Self::Neighbours,
            11 => Self::Subnormal,
            12 => Self::Huge,
            _ => Self::Constant,
        }
    }

    fn draw(self, is_single: bool, random: &mut Stream) -> f64 {
        let x = random.unit();
        let (spacing, smallest, largest) = if is_single {
            (f64::from(f32::EPSILON), f64::from(f32::from_bits(1)), f64::from(f32::MAX))
        } else {
            (f64::EPSILON, f64::from_bits(1), f64::MAX)
        };
        match self {
            Self::Smooth => x,
            Self::Saturated => 1.0 / (1.0 + (100.0 * (x - 0.5)).exp()),
            Self::Decimals(digits) => (x * 10_f64.powi(digits)).round() / 10_f64.powi(digits),
            Self::Fractions(most) => {
                let denominator = 1 + random.below(most);
                f64::from(random.below(denominator + 1)) / f64::from(denominator)
            }
            Self::Lattice(m) => {
                let sign = if x < 0.5 { -1.0 } else { 1.0 };
                sign * f64::from(random.below(m + 1)) / f64::from(m)
            }
            Self::FarApart => (x - 0.5) * 10_f64.powi(random.below(50) as i32 - 25),
            Self::Neighbours => 0.5 + f64::from(random.below(8)) * spacing / 2.0,
            Self::Subnormal => f64::from(random.below(20)) * smallest,
            Self::Huge => (2.0 * x - 1.0) * largest,
            Self::Constant => 1.0,
        }
    }
}

/// What weights look like.
#[derive(Debug, Clone, Copy)]
enum Weights {
    Equal,
    /// Of the class.
    ByClass,
    /// Two or three different ones.
    Few,
    Whole,
    Smooth,
    ZeroInPart,
    /// Of very different sizes: up to 10 to this power, and down to its reciprocal.
    FarApart(f64),
}

impl Weights {
    fn draw_kind(random: &mut Stream) -> Self {
        match random.below(9) {
            0 => Self::Equal,
            1 => Self::ByClass,
            2 => Self::Few,
            3 | 4 => Self::Whole,
            5 => Self::Smooth,
            6 => Self::ZeroInPart,
            7 => Self::FarApart(20.0),
            _ => Self::FarApart(60.0),
        }
    }

    fn are_whole(self) -> bool {
        matches!(self, Self::Equal | Self::Whole)
    }

    fn draw(self, code: u8, random: &mut Stream) -> f64 {
        let x = random.unit();
        match self {
            Self::Equal => 1.0,
            Self::ByClass => 1.0 / (1.0 + f64::from(code)),
            Self::Few => [0.1, 0.7, 2.5][random.below(3) as usize],
            Self::Whole => f64::from(random.below(6)),
            Self::Smooth => x,
            Self::ZeroInPart => {
                if random.below(3) == 0 {
                    0.0
                } else {
                    x
                }
            }
            Self::FarApart(power) => 10_f64.powf(power * (2.0 * x - 1.0)),
        }
    }
}

impl Case {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let random = &mut Stream::new(seed, number as u32, (number >> 32) as u32);
        let rows = match random.below(64) {
            _ if number.is_multiple_of(CASES_PER_LARGE) => SPLIT_ROWS,
            _ if number % CASES_PER_LARGE == 1 => PREFETCHED_ROWS,
            0 | 1 => 60 + random.below(540) as usize,
            2..=11 => 20 + random.below(60) as usize,
            _ => 2 + random.below(18) as usize,
        };
        let is_large = rows >= PREFETCHED_ROWS;
        let classes = match random.below(16) {
            _ if is_large => 3,
            // More than are gathered at once.
            0 => 17 + random.below(4) as usize,
            _ => 2 + random.below(4) as usize,
        };
        let is_single = random.below(3) == 0;
        let codes = draw_codes(rows, classes, is_large, random);
        let of_weights = Weights::draw_kind(random);
        let mut weights: Vec<f64> = codes.iter().map(|&code| of_weights.draw(code, random)).collect();
        // Two classes are always present.
        weights[..2].iter_mut().filter(|weight| **weight == 0.0).for_each(|weight| *weight = 1.0);
        let (scores, are_huge) = draw_scores(rows, classes, is_single, random);
        let has_costs = !are_huge && random.below(4) == 0;
        Self {
            seed,
            number,
            classes,
            is_single,
            has_threads: rows >= 20 || random.below(16) == 0,
            has_whole_weights: of_weights.are_whole(),
            codes,
            weights,
            scores,
            costs: has_costs.then(|| draw_costs(classes, random)),
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.codes.len()
    }

    /// The case with as few rows as still differ.
    pub(super) fn smallest(mut self, differs: impl Fn(&Self) -> bool) -> Self {
        let mut row = if self.rows() > MOST_PRINTED_ROWS { 0 } else { self.rows() };
        while row > 0 {
            row -= 1;
            let mut smaller = self.clone();
            smaller.codes.remove(row);
            smaller.weights.remove(row);
            smaller.scores.drain(row * self.classes..(row + 1) * self.classes);
            if differs(&smaller) {
                self = smaller;
            }
        }
        self
    }
}

/// Classes 0 and 1 first; the last class is absent now and then.
fn draw_codes(rows: usize, classes: usize, is_large: bool, random: &mut Stream) -> Vec<u8> {
    let present = if classes > 2 && random.below(4) == 0 { classes - 1 } else { classes } as u32;
    let draw = |row: usize| match row {
        0 | 1 => row as u32,
        // Two large classes and a small one.
        _ if is_large && random.below(64) > 0 => random.below(2),
        _ => random.below(present),
    };
    (0..rows).map(draw).map(|code| code as u8).collect()
}

/// Also returns whether some may be so large that they cannot be multiplied.
fn draw_scores(rows: usize, classes: usize, is_single: bool, random: &mut Stream) -> (Vec<f64>, bool) {
    let kinds = [Scores::draw_kind(random), Scores::draw_kind(random)];
    let is_mixed = random.below(4) == 0;
    let constant_column = if random.below(8) == 0 { random.below(classes as u32) as usize } else { classes };
    let has_copies = random.below(4) == 0;
    let mut scores: Vec<f64> = Vec::with_capacity(rows * classes);
    for row in 0..rows {
        if has_copies && row > 0 && random.below(3) == 0 {
            let copied = random.below(row as u32) as usize * classes;
            scores.extend_from_within(copied..copied + classes);
            continue;
        }
        for column in 0..classes {
            let kind = kinds[usize::from(is_mixed && random.below(2) == 0)];
            let kind = if column == constant_column { Scores::Constant } else { kind };
            scores.push(kind.draw(is_single, random));
        }
    }
    let are_huge = kinds.iter().any(|kind| matches!(kind, Scores::Huge));
    (scores, are_huge)
}

/// Rows with the sum zero, as scores of any kind need them.
fn draw_costs(classes: usize, random: &mut Stream) -> Vec<f64> {
    let draws: Vec<f64> = (0..classes * classes).map(|_| f64::from(random.below(13))).collect();
    let centred = |row: &[f64]| {
        let sum: f64 = row.iter().sum();
        row.iter().map(|cost| classes as f64 * cost - sum).collect::<Vec<_>>()
    };
    draws.chunks(classes).flat_map(centred).collect()
}

/// The whole sample, so that a difference can be looked into, and how to run the case again.
impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, number, classes, codes, weights, scores, .. } = self;
        writeln!(out, "run again with MULTIAUC_FUZZ_SEED={seed} MULTIAUC_FUZZ_CASE={number}")?;
        writeln!(
            out,
            "{} rows, {classes} classes, scores are {}",
            self.rows(),
            if self.is_single { "f32" } else { "f64" }
        )?;
        if let Some(costs) = &self.costs {
            writeln!(out, "costs: {costs:?}")?;
        }
        if self.rows() <= MOST_PRINTED_ROWS {
            for ((code, weight), scores) in codes.iter().zip(weights).zip(scores.chunks(*classes)) {
                writeln!(out, "class {code}, weight {weight:?}, scores {scores:?}")?;
            }
        }
        Ok(())
    }
}
