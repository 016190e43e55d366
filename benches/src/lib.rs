//! Synthetic data for the criterion benches of `multiauc`: seeded, the same on every machine.

use multiauc::{ClassCodes, Result, Score, ScoreMatrix, ScoredSample, Workers};

/// A small generator of uniform and normal numbers (splitmix64).
#[derive(Debug, Clone)]
pub struct Generator(u64);

impl Generator {
    /// A generator that starts from `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next_bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// How the scores are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Softmax of normal logits.
    Smooth,
    /// The same, rounded to multiples of 1/20.
    Tied,
    /// Softmax of logits twenty times as large: most scores next to 0 or 1.
    Saturated,
    /// All but one row in a thousand within a millionth of one half.
    Clustered,
}

/// Owned scores (row by row) and labels.
#[derive(Debug, Clone)]
pub struct Data<T> {
    /// The scores, `classes` to a row.
    pub scores: Vec<T>,
    /// The class of each row, as a user would give it.
    pub labels: Vec<i64>,
    /// The same, as the kernels expect it.
    pub codes: Vec<u8>,
    /// Number of classes.
    pub classes: usize,
}

impl<T: Score> Data<T> {
    /// `rows` rows of `classes` (at most 256) classes; the logit of a row's own class is shifted up by one.
    pub fn new(rows: usize, classes: usize, shape: Shape, round: impl Fn(f64) -> T) -> Self {
        let mut generator = Generator::new(1);
        let sharpness = if shape == Shape::Saturated { 20.0 } else { 1.0 };
        let mut data = Self { scores: Vec::with_capacity(rows * classes), labels: vec![], codes: vec![], classes };
        for _ in 0..rows {
            let own = (generator.uniform() * classes as f64) as usize;
            let far = generator.uniform() < 1e-3;
            let mut row: Vec<f64> = (0..classes).map(|_| generator.normal()).collect();
            row[own] += 1.0;
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for logit in &mut row {
                *logit = (sharpness * (*logit - largest)).exp();
            }
            let sum: f64 = row.iter().sum();
            data.scores.extend(row.into_iter().map(|part| {
                let score = part / sum;
                round(match shape {
                    Shape::Smooth | Shape::Saturated => score,
                    Shape::Tied => (score * 20.0).round() / 20.0,
                    Shape::Clustered if far => score,
                    Shape::Clustered => 0.5 + 1e-6 * score,
                })
            }));
            let code = own as u8;
            data.labels.push(code.into());
            data.codes.push(code);
        }
        data
    }

    /// The validated sample.
    ///
    /// # Errors
    /// None for data made by [`new`](Self::new) with every class present.
    pub fn sample(&self, workers: &Workers<'_>) -> Result<ScoredSample<'_, T>> {
        let matrix = ScoreMatrix::from_rows(&self.scores, self.classes)?;
        ScoredSample::new(matrix, ClassCodes::Bytes(&self.codes), None, workers)
    }
}
