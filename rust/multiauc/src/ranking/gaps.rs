//! What lies between the rows of one class: how many rows of the others, and the lowest of them.

use super::bucket_map::BLOCK;
use super::ranked_keys::RankedKeys;
use crate::float::Score;
use crate::simd::{Simd, Vectorizable, run_widest};

/// One class sorted by its keys, the others counted in the gaps between them; with reusable memory.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    ranked: RankedKeys,
    /// Rows below each rank and above the one before, the last above all, and the lowest key among them.
    counts: Vec<u32>,
    lowest: Vec<f64>,
    /// Rows that tie with the row at a rank, the first of its own ties.
    tied: Vec<u32>,
}

/// A step from the highest keys down: rows of the class, and others that tie with them or stand alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GapStep {
    pub own: u32,
    pub others: u32,
    /// The lowest key of the step.
    pub key: f64,
}

impl Gaps {
    /// Sorts the class, with nothing in the gaps.
    pub(crate) fn build<T: Score>(&mut self, keys: &[T]) {
        self.ranked.build(keys);
        let ranks = keys.len() + 1;
        for counts in [&mut self.counts, &mut self.tied] {
            counts.clear();
            counts.resize(ranks, 0);
        }
        self.lowest.clear();
        self.lowest.resize(ranks, f64::INFINITY);
    }

    /// Counts rows of other classes.
    pub(crate) fn add<T: Score>(&mut self, keys: &[T]) {
        run_widest(Add { gaps: self, keys });
    }

    /// Calls `visit(step)` for the rows of each tie of the class and for those of each gap, from the highest down.
    pub(crate) fn for_each_down(&self, mut visit: impl FnMut(GapStep)) {
        let visit_gap = |rank: usize, visit: &mut dyn FnMut(GapStep)| {
            if self.counts[rank] > 0 {
                visit(GapStep { own: 0, others: self.counts[rank], key: self.lowest[rank] });
            }
        };
        let mut end = self.ranked.len();
        visit_gap(end, &mut visit);
        for tie in self.ranked.keys().chunk_by(|a, b| a == b).rev() {
            let first = end - tie.len();
            visit(GapStep { own: tie.len() as u32, others: self.tied[first], key: tie[0] });
            visit_gap(first, &mut visit);
            end = first;
        }
    }
}

/// The work of `Gaps::add`.
struct Add<'g, T> {
    gaps: &'g mut Gaps,
    keys: &'g [T],
}

impl<T: Score> Vectorizable for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { gaps: Gaps { ranked, counts, lowest, tied }, keys } = self;
        let (mut block, mut indices) = ([0.0; BLOCK], [0_u32; BLOCK]);
        for keys in keys.chunks(BLOCK) {
            block.iter_mut().zip(keys).for_each(|(entry, &key)| *entry = key.into());
            ranked.indices(&block[..keys.len()], &mut indices);
            ranked.prefetch(simd, &indices[..keys.len()], lowest);
            for (&key, &index) in block[..keys.len()].iter().zip(&indices) {
                let (low, high) = ranked.ranks_of(simd, key, index);
                if low == high {
                    counts[low] += 1;
                    lowest[low] = if key < lowest[low] { key } else { lowest[low] };
                } else {
                    tied[low] += 1;
                }
            }
        }
    }
}
