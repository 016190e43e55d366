//! What one side wins against another where rows have weights.

/// Twice the weight of the pairs of rows won and of those lost, a tie counting half to each side.
///
/// Both are sums of terms that are not negative: the share won lies in [0, 1] whatever the sums are rounded to, is exactly
/// 1 where nothing is lost, and exactly 0 where nothing is won.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct WeightedWins {
    pub won: f64,
    pub lost: f64,
}

impl WeightedWins {
    /// Adds the wins of a weight that has won and lost this much for each unit.
    #[inline(always)]
    pub(crate) fn add(&mut self, weight: f64, per_unit: Self) {
        self.won += weight * per_unit.won;
        self.lost += weight * per_unit.lost;
    }

    /// The wins of both.
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { won: self.won + other.won, lost: self.lost + other.lost }
    }

    /// The same seen from the other side.
    pub(crate) const fn reversed(self) -> Self {
        Self { won: self.lost, lost: self.won }
    }

    /// The share of the weight won.
    pub(crate) fn share(self) -> f64 {
        self.won / (self.won + self.lost)
    }
}

/// The weight of the first 0, 1, … of some sorted rows, with reusable memory.
#[derive(Debug, Default)]
pub(super) struct RunningWeights(Vec<f64>);

impl RunningWeights {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn fill(&mut self, weights: impl Iterator<Item = f64>) {
        self.clear();
        let mut sum = 0.0;
        self.0.push(sum);
        for weight in weights {
            sum += weight;
            self.0.push(sum);
        }
    }

    /// The same, the last sum being repeated some times more. Four at a time, so that sums need not wait for each other; they
    /// still never fall.
    pub(super) fn fill_padded(&mut self, weights: &[f64], padding: usize) {
        self.clear();
        self.0.reserve(weights.len() + 1 + padding);
        let mut sum = 0.0;
        self.0.push(sum);
        let (blocks, rest) = weights.as_chunks::<4>();
        for &[first, second, third, fourth] in blocks {
            let two = first + second;
            let three = two + third;
            let four = three + fourth;
            self.0.extend([sum + first, sum + two, sum + three, sum + four]);
            sum += four;
        }
        for &weight in rest {
            sum += weight;
            self.0.push(sum);
        }
        self.0.extend(std::iter::repeat_n(sum, padding));
    }

    /// The weight of all rows.
    pub(super) fn all(&self) -> f64 {
        self.0[self.0.len() - 1]
    }

    /// The weight of the first 0, 1, … rows.
    pub(super) fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.0.len() - 1
    }

    /// What a row wins against these that has `low` of them below it and `high` below or equal to it. The weight above is
    /// all weight less that below: exactly nothing after the last row, and as much as below where all rows tie.
    #[inline(always)]
    pub(super) fn wins_at(&self, low: usize, high: usize) -> WeightedWins {
        let all = self.all();
        WeightedWins { won: self.0[low] + self.0[high], lost: (all - self.0[low]) + (all - self.0[high]) }
    }

    /// The weight between two of them.
    #[inline]
    pub(super) fn between(&self, low: usize, high: usize) -> f64 {
        self.0[high] - self.0[low]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_leave_the_unit_interval() {
        let share = |won: f64, lost: f64| WeightedWins { won, lost }.share();
        assert_eq!([share(0.1 + 0.2, 0.0), share(0.0, 0.3), share(0.7, 0.7)], [1.0, 0.0, 0.5]);
        assert_eq!([share(1e300, 1e-300), share(0.1, 0.3)], [1.0, 0.25]);
        let wins = WeightedWins { won: 1.0, lost: 3.0 };
        assert_eq!(wins.share() + wins.reversed().share(), 1.0);
    }
}
