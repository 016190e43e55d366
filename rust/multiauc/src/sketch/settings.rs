//! What a state is made for, and which histograms it needs for that.

/// What a state is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SketchSettings {
    /// Number of classes.
    pub classes: usize,
    /// Whether differences of scores are kept, for AUC_mu.
    pub differences: bool,
    /// Whether the columns of scores are kept by class, for Hand & Till's M.
    pub columns_by_class: bool,
    /// Whether the columns of scores are kept, for one-vs-rest.
    pub columns: bool,
    /// About how many bytes of memory to use.
    pub memory: usize,
    /// The lattice 1/m that all scores lie on, where that is known beforehand.
    pub lattice: Option<u32>,
}

/// With fewer rows of a class, how they vary cannot be told.
pub(super) const FEWEST_SAMPLED: usize = 2;

impl SketchSettings {
    /// The number of histograms.
    pub(super) const fn histograms(&self) -> usize {
        let Self { classes, .. } = *self;
        let pairs = if self.differences { classes * (classes - 1) } else { 0 };
        pairs + self.column_histograms()
    }

    const fn column_histograms(&self) -> usize {
        if self.columns_by_class {
            self.classes * self.classes
        } else if self.columns {
            2 * self.classes
        } else {
            0
        }
    }

    /// Memory of the bins of one histogram.
    pub(super) const fn histogram_bytes(&self) -> usize {
        self.memory / 8 * 5 / self.histograms()
    }

    /// The least memory that the histograms can live in.
    #[must_use]
    pub const fn least_memory(&self) -> usize {
        // 64 bins at the coarsest, with weights.
        (64 * 20 * self.histograms()) / 5 * 8 + 4096
    }

    /// Bytes of rows that wait until they are sorted into the histograms.
    pub(super) const fn waiting_bytes(&self) -> usize {
        // The more rows are sorted in at once, the less often the bins are gone through.
        self.memory / 4
    }

    /// How many rows of each class are kept.
    pub(super) const fn sample_rows<T>(&self) -> usize {
        self.memory / 8 / self.row_bytes::<T>() / self.classes
    }

    /// Memory of a row that is kept.
    const fn row_bytes<T>(&self) -> usize {
        self.classes * size_of::<T>() + 24
    }

    /// The least memory that keeps two rows of each class, without which variances are not known.
    #[must_use]
    pub const fn least_memory_for_variances<T>(&self) -> usize {
        let sampled = FEWEST_SAMPLED * 8 * self.row_bytes::<T>() * self.classes;
        let least = self.least_memory();
        if sampled > least { sampled } else { least }
    }

    /// The histogram of p_c − p_d in the class `own`, which is c or d, for c < d.
    pub(super) const fn difference_index(&self, c: usize, d: usize, own: usize) -> usize {
        let before = c * (2 * self.classes - c - 1) / 2 + (d - c - 1);
        2 * before + (own == d) as usize
    }

    /// The histogram of p_c in a class, or in all classes but c where they are not kept apart.
    pub(super) const fn column_index(&self, c: usize, class: usize) -> usize {
        let first = if self.differences { self.classes * (self.classes - 1) } else { 0 };
        first + if self.columns_by_class { c * self.classes + class } else { 2 * c + (class != c) as usize }
    }

    /// What a histogram counts.
    pub(super) fn contents(&self) -> Vec<Contents> {
        let mut contents = Vec::with_capacity(self.histograms());
        if self.differences {
            for c in 0..self.classes {
                for d in c + 1..self.classes {
                    contents.push(Contents::Difference { c, d, class: c });
                    contents.push(Contents::Difference { c, d, class: d });
                }
            }
        }
        if self.columns_by_class {
            let cells = (0..self.classes).flat_map(|c| (0..self.classes).map(move |class| (c, class)));
            contents.extend(cells.map(|(c, class)| Contents::Column { c, class }));
        } else if self.columns {
            contents.extend((0..self.classes).flat_map(|c| [Contents::Column { c, class: c }, Contents::Rest { c }]));
        }
        contents
    }
}

/// What a histogram counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    /// p_c − p_d of the rows of a class.
    Difference { c: usize, d: usize, class: usize },
    /// p_c of the rows of a class.
    Column { c: usize, class: usize },
    /// p_c of the rows of all other classes.
    Rest { c: usize },
}
