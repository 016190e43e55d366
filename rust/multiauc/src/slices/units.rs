//! Sums over the independent units of a sample: its rows, or groups of rows.

/// Which unit each row belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units<'a> {
    groups: Option<&'a [u32]>,
    /// How many there are.
    pub count: usize,
}

/// What a slice and the rows outside it have in one unit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared {
    /// Σ ψ of the slice over its rows in the unit.
    pub of_slice: f64,
    /// Σ ψ of the reference over the same rows.
    pub inside: f64,
    /// Σ ψ of the reference over all rows of the unit.
    pub all: f64,
}

impl<'a> Units<'a> {
    pub(super) fn new(groups: Option<&'a [u32]>, rows: usize) -> Self {
        let largest = groups.and_then(|groups| groups.iter().max()).map(|&largest| largest as usize + 1);
        Self { groups, count: largest.unwrap_or(rows) }
    }

    /// Whether rows are the units.
    pub(super) const fn are_rows(&self) -> bool {
        self.groups.is_none()
    }

    fn of(&self, row: u32) -> u32 {
        self.groups.map_or(row, |groups| groups[row as usize])
    }

    /// Adds the terms of some rows to the sums of their units.
    pub(super) fn add(&self, rows: &[u32], terms: &[f64], sign: f64, sums: &mut [f64]) {
        for (&row, term) in rows.iter().zip(terms) {
            sums[self.of(row) as usize] += sign * term;
        }
    }

    /// For every unit with rows of a slice, in increasing order. `terms` are those of the slice, by row of it; `inside` are
    /// those of the reference, by row of the sample, and `sums` their sums by unit.
    pub(super) fn shared(&self, rows: &[u32], terms: &[f64], inside: impl Fn(u32) -> f64, sums: &[f64]) -> Vec<Shared> {
        let mut entries: Vec<(u32, f64, f64)> =
            rows.iter().zip(terms).map(|(&row, &term)| (self.of(row), term, inside(row))).collect();
        // Stable, so that sums have one order.
        entries.sort_by_key(|&(unit, ..)| unit);
        let of_unit = |entries: &[(u32, f64, f64)]| Shared {
            of_slice: entries.iter().map(|entry| entry.1).sum(),
            inside: entries.iter().map(|entry| entry.2).sum(),
            all: sums[entries[0].0 as usize],
        };
        entries.chunk_by(|a, b| a.0 == b.0).map(of_unit).collect()
    }
}
