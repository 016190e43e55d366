//! How the rows of a sample were drawn.

/// What was drawn independently: the unit of every standard error and every bootstrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sampling<'a> {
    /// Rows within each class: class sizes are fixed.
    #[default]
    Stratified,
    /// Rows, whatever their class: class sizes are random.
    Iid,
    /// Whole groups of rows.
    Groups {
        /// The group of each row.
        of_rows: &'a [u32],
        /// Whether groups are drawn whatever their class. Otherwise they are drawn within classes, and class sizes count
        /// as fixed, unless some group has rows of several classes.
        is_iid: bool,
    },
}

impl<'a> Sampling<'a> {
    /// Whether class sizes are random.
    pub(crate) const fn is_iid(self) -> bool {
        matches!(self, Self::Iid | Self::Groups { is_iid: true, .. })
    }

    /// The group of each row, where groups are drawn.
    pub(crate) const fn groups(self) -> Option<&'a [u32]> {
        match self {
            Self::Groups { of_rows, .. } => Some(of_rows),
            _ => None,
        }
    }
}
