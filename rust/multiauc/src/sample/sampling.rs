//! How the rows of a sample were drawn.

use super::class_sizes::ClassCodes;
use crate::error::{Error, Result, RowArray};

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

/// (groups that have rows of each class, whether some group has rows of several), rows of weight zero left out.
///
/// # Errors
/// [`Error::LengthMismatch`], [`Error::CodeOutOfRange`].
pub fn count_groups(
    codes: ClassCodes<'_>,
    weights: Option<&[f64]>,
    groups: &[u32],
    classes: usize,
) -> Result<(Vec<u64>, bool)> {
    let rows = codes.len();
    for (array, found) in [(RowArray::Groups, groups.len()), (RowArray::Weights, weights.map_or(rows, <[f64]>::len))] {
        if found != rows {
            return Err(Error::LengthMismatch { array, rows, found });
        }
    }
    let rows = (0..rows).filter(|&row| weights.is_none_or(|weights| weights[row] > 0.0));
    let pairs = rows.map(|row| (codes.get(row), groups[row]));
    let last = groups.iter().max().map_or(0, |&last| last as usize);
    let words = last / 64 + 1;
    let mut of_classes = vec![0; classes];
    let mut count = |code: usize| -> Result<()> {
        let row = 0;
        *of_classes.get_mut(code).ok_or(Error::CodeOutOfRange { row, code, classes })? += 1;
        Ok(())
    };
    if words * classes <= codes.len().max(1 << 10) {
        // A bit for each group, in each class and in all of them.
        let (mut seen, mut seen_anywhere, mut is_across) = (vec![0_u64; words * classes], vec![0_u64; words], false);
        for (code, group) in pairs {
            let (word, bit) = (group as usize / 64, 1 << (group % 64));
            let Some(of_class) = seen.get_mut(code * words + word) else {
                count(code)?;
                continue;
            };
            if *of_class & bit == 0 {
                count(code)?;
                *of_class |= bit;
                is_across |= seen_anywhere[word] & bit != 0;
                seen_anywhere[word] |= bit;
            }
        }
        return Ok((of_classes, is_across));
    }
    let mut pairs: Vec<(u32, usize)> = pairs.map(|(code, group)| (group, code)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.iter().try_for_each(|&(_, code)| count(code))?;
    Ok((of_classes, pairs.windows(2).any(|pair| pair[0].0 == pair[1].0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_count_once_in_each_class_that_they_have_rows_of() {
        let (codes, groups) = (ClassCodes::Bytes(&[0, 0, 1, 1, 1]), [7, 7, 7, 3, 2]);
        assert_eq!(count_groups(codes, None, &groups, 3), Ok((vec![1, 3, 0], true)));
        let weights = [1.0, 0.0, 0.0, 2.0, 1.0];
        assert_eq!(count_groups(codes, Some(&weights), &groups, 3), Ok((vec![1, 2, 0], false)));
        assert!(count_groups(codes, None, &groups[1..], 3).is_err());
        assert!(count_groups(codes, None, &groups, 1).is_err());
        // Groups far apart are sorted.
        let groups = groups.map(|group| group * 100_000_000);
        assert_eq!(count_groups(codes, None, &groups, 3), Ok((vec![1, 3, 0], true)));
        assert!(count_groups(codes, None, &groups, 1).is_err());
    }
}
