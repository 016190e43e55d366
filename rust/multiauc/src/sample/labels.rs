//! Labels become class codes: integers in increasing order, records of bytes in order of first appearance.

use std::collections::HashMap;
use std::hash::Hash;

use super::class_sizes::ClassCodes;
use crate::error::{Error, Result};
use crate::parallel::Workers;

/// Codes written by one task.
const SPAN: usize = 1 << 16;
/// Labels that span at most so many times their number are not hashed.
const SPREAD: u64 = 4;

/// Codes as narrow as the number of classes allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    /// Up to 256 classes.
    Bytes(Vec<u8>),
    /// Up to 65,536 classes.
    Words(Vec<u16>),
    /// More.
    Longs(Vec<u32>),
}

impl Codes {
    /// As narrow as possible.
    #[must_use]
    pub fn narrowed(codes: Vec<u32>, classes: usize) -> Self {
        if classes <= u8::WINDOW {
            Self::Bytes(codes.into_iter().map(|code| code as u8).collect())
        } else if classes <= u16::WINDOW {
            Self::Words(codes.into_iter().map(|code| code as u16).collect())
        } else {
            Self::Longs(codes)
        }
    }
}

/// Labels as codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coding {
    /// The class of each row.
    pub codes: Codes,
    /// The first row of each class.
    pub first_rows: Vec<usize>,
    /// Number of rows of each class.
    pub counts: Vec<u64>,
}

/// An integer type of labels.
pub trait Integer: Copy + Ord + Hash + Send + Sync {
    /// self − base, for base ≤ self.
    fn above(self, base: Self) -> u64;
}

macro_rules! impl_integer {
    ($($integer:ty),*) => {$(
        impl Integer for $integer {
            #[inline]
            fn above(self, base: Self) -> u64 {
                // Right for signed types too: the difference may wrap, but its bits are those of the true one.
                self.wrapping_sub(base) as u64
            }
        }
    )*};
}
// The narrower types widen with their sign, so the difference of two of them is taken in 64 bits.
impl_integer!(i64, u64);

macro_rules! impl_narrow_integer {
    ($($integer:ty),*) => {$(
        impl Integer for $integer {
            #[inline]
            fn above(self, base: Self) -> u64 {
                i64::from(self).wrapping_sub(i64::from(base)) as u64
            }
        }
    )*};
}
impl_narrow_integer!(i8, i16, i32, u8, u16, u32);

/// Turns integer labels, at most `limit` distinct ones (and at least 65,536), into codes; classes are numbered in
/// increasing order of their labels.
///
/// # Errors
/// [`Error::TooManyClasses`], [`Error::Cancelled`].
pub fn code_integers<I: Integer>(values: &[I], limit: usize, workers: &Workers<'_>) -> Result<Coding> {
    // Nearly always labels span fewer than 256 values and one of the first rows has the smallest: then one pass is
    // enough.
    let head = &values[..values.len().min(4096)];
    if let Some(&base) = head.iter().min()
        && let Some(coding) = code_in_window::<_, u8>(values, base, workers)?
    {
        return Ok(coding);
    }
    if let (Some(&lowest), Some(highest)) = (values.iter().min(), values.iter().max()) {
        let span = highest.above(lowest);
        if span < u16::WINDOW as u64
            && let Some(coding) = code_in_window::<_, u16>(values, lowest, workers)?
        {
            return Ok(coding);
        }
        if span < SPREAD * values.len() as u64 {
            return code_close(values, lowest, span as usize + 1, limit, workers);
        }
    }
    let mut coding = code_by_map(values.iter().copied(), limit)?;
    let mut order: Vec<usize> = (0..coding.counts.len()).collect();
    order.sort_unstable_by_key(|&class| values[coding.first_rows[class]]);
    coding.reorder(&order);
    Ok(coding)
}

/// Turns records of `width` bytes, at most `limit` distinct ones, into codes; classes are numbered in order of first
/// appearance.
///
/// # Errors
/// [`Error::TooManyClasses`].
pub fn code_bytes(records: &[u8], width: usize, limit: usize) -> Result<Coding> {
    code_by_map(records.chunks_exact(width.max(1)), limit)
}

/// Codes of other classes: class k becomes `columns[k]`, one of `classes`.
#[must_use]
pub fn recode(codes: ClassCodes<'_>, columns: &[u32], classes: usize) -> Codes {
    if classes <= u8::WINDOW {
        Codes::Bytes(looked_up(codes, &columns.iter().map(|&column| column as u8).collect::<Vec<_>>()))
    } else if classes <= u16::WINDOW {
        Codes::Words(looked_up(codes, &columns.iter().map(|&column| column as u16).collect::<Vec<_>>()))
    } else {
        Codes::Longs(looked_up(codes, columns))
    }
}

/// The entry of each row; of codes beyond the table, which labels do not have, the default.
fn looked_up<D: Copy + Default>(codes: ClassCodes<'_>, table: &[D]) -> Vec<D> {
    let entry = |code: usize| table.get(code).copied().unwrap_or_default();
    match codes {
        ClassCodes::Bytes(codes) => codes.iter().map(|&code| entry(code.into())).collect(),
        ClassCodes::Words(codes) => codes.iter().map(|&code| entry(code.into())).collect(),
        ClassCodes::Longs(codes) => codes.iter().map(|&code| entry(code as usize)).collect(),
    }
}

/// A code of one or two bytes.
trait Code: Copy + Default + Send + Sync {
    /// How many labels have a code.
    const WINDOW: usize;
    fn narrow(value: usize) -> Self;
    fn widen(self) -> usize;
    fn into_codes(codes: Vec<Self>, classes: usize) -> Codes;
}

impl Code for u8 {
    const WINDOW: usize = 1 << 8;
    fn narrow(value: usize) -> Self {
        value as Self
    }
    fn widen(self) -> usize {
        self.into()
    }
    fn into_codes(codes: Vec<Self>, _: usize) -> Codes {
        Codes::Bytes(codes)
    }
}

impl Code for u16 {
    const WINDOW: usize = 1 << 16;
    fn narrow(value: usize) -> Self {
        value as Self
    }
    fn widen(self) -> usize {
        self.into()
    }
    fn into_codes(codes: Vec<Self>, classes: usize) -> Codes {
        if classes <= u8::WINDOW {
            Codes::Bytes(codes.into_iter().map(|code| code as u8).collect())
        } else {
            Codes::Words(codes)
        }
    }
}

/// Labels in base..base + window: their offsets are the codes, apart from gaps. `None` if a label lies outside.
fn code_in_window<I: Integer, C: Code>(values: &[I], base: I, workers: &Workers<'_>) -> Result<Option<Coding>> {
    let mut codes = vec![C::default(); values.len()];
    let parts = workers.map_chunks(&mut codes, SPAN, |span, chunk| {
        Ok(count_offsets(&values[span * SPAN..][..chunk.len()], base, chunk))
    })?;
    let Some(parts) = parts.into_iter().collect::<Option<Vec<Vec<u32>>>>() else { return Ok(None) };
    let counts: Vec<u64> = (0..C::WINDOW).map(|slot| parts.iter().map(|part| u64::from(part[slot])).sum()).collect();
    let labels: Vec<usize> = (0..C::WINDOW).filter(|&slot| counts[slot] > 0).collect();
    if labels.iter().enumerate().any(|(class, &slot)| class != slot) {
        let mut class_of = vec![C::default(); C::WINDOW];
        labels.iter().enumerate().for_each(|(class, &slot)| class_of[slot] = C::narrow(class));
        workers.map_chunks(&mut codes, SPAN, |_, chunk| {
            for code in chunk {
                *code = class_of[code.widen()];
            }
            Ok(())
        })?;
    }
    let codes = C::into_codes(codes, labels.len());
    let first_rows = first_rows(&codes, labels.len());
    Ok(Some(Coding { codes, first_rows, counts: labels.into_iter().map(|slot| counts[slot]).collect() }))
}

/// Writes label − base for each label and counts them; `None` if a label lies outside the window.
fn count_offsets<I: Integer, C: Code>(values: &[I], base: I, codes: &mut [C]) -> Option<Vec<u32>> {
    // Four tables in turn: in a single one, each of a run of equal labels would wait for the increment before.
    let mut counts = vec![0_u32; 4 * C::WINDOW];
    let mut outside = false;
    for (row, (code, &value)) in codes.iter_mut().zip(values).enumerate() {
        let offset = value.above(base);
        outside |= value < base || offset >= C::WINDOW as u64;
        let slot = offset as usize & (C::WINDOW - 1);
        counts[(row & 3) * C::WINDOW + slot] += 1;
        *code = C::narrow(slot);
    }
    let (first, others) = counts.split_at_mut(C::WINDOW);
    for table in others.chunks(C::WINDOW) {
        first.iter_mut().zip(table).for_each(|(sum, count)| *sum += count);
    }
    counts.truncate(C::WINDOW);
    (!outside).then_some(counts)
}

/// Labels close together, though too many for a window: a place for each of `span` numbers from the lowest on.
fn code_close<I: Integer>(values: &[I], lowest: I, span: usize, limit: usize, workers: &Workers<'_>) -> Result<Coding> {
    const CHUNK: usize = 1 << 14;
    let mut class_of = vec![0_u32; span];
    for value in values {
        class_of[value.above(lowest) as usize] = 1;
    }
    let mut classes = 0;
    for class in &mut class_of {
        classes += *class;
        // The lowest is there, so there is one at least.
        *class = classes - 1;
    }
    let classes = classes as usize;
    if classes > limit {
        return Err(Error::TooManyClasses { limit });
    }
    let mut codes = vec![0; values.len()];
    workers.map_chunks(&mut codes, CHUNK, |chunk, codes| {
        let values = &values[chunk * CHUNK..];
        codes.iter_mut().zip(values).for_each(|(code, value)| *code = class_of[value.above(lowest) as usize]);
        Ok(())
    })?;
    // Backwards: what is left is the first row.
    let (mut counts, mut first_rows) = (vec![0; classes], vec![0; classes]);
    for (row, &code) in codes.iter().enumerate().rev() {
        counts[code as usize] += 1;
        first_rows[code as usize] = row;
    }
    Ok(Coding { codes: Codes::narrowed(codes, classes), first_rows, counts })
}

fn first_rows(codes: &Codes, classes: usize) -> Vec<usize> {
    let mut rows = vec![usize::MAX; classes];
    let mut missing = classes;
    let mut see = |row: usize, class: usize| {
        if rows[class] == usize::MAX {
            rows[class] = row;
            missing -= 1;
        }
        missing > 0
    };
    match codes {
        Codes::Bytes(codes) => _ = codes.iter().enumerate().all(|(row, &code)| see(row, code as usize)),
        Codes::Words(codes) => _ = codes.iter().enumerate().all(|(row, &code)| see(row, code as usize)),
        Codes::Longs(codes) => _ = codes.iter().enumerate().all(|(row, &code)| see(row, code as usize)),
    }
    rows
}

fn code_by_map<K: Hash + Eq>(keys: impl Iterator<Item = K>, limit: usize) -> Result<Coding> {
    let mut classes: HashMap<K, u32> = HashMap::new();
    let (mut codes, mut first_rows, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (row, key) in keys.enumerate() {
        let next = classes.len();
        let code = *classes.entry(key).or_insert(next as u32) as usize;
        if code == counts.len() {
            if code == limit {
                return Err(Error::TooManyClasses { limit });
            }
            first_rows.push(row);
            counts.push(0);
        }
        counts[code] += 1;
        codes.push(code as u32);
    }
    Ok(Coding { codes: Codes::narrowed(codes, counts.len()), first_rows, counts })
}

impl Coding {
    /// Renumbers the classes: class `order[i]` becomes class i.
    fn reorder(&mut self, order: &[usize]) {
        let mut class_of = vec![0_u32; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| class_of[old] = new as u32);
        match &mut self.codes {
            Codes::Bytes(codes) => codes.iter_mut().for_each(|code| *code = class_of[*code as usize] as u8),
            Codes::Words(codes) => codes.iter_mut().for_each(|code| *code = class_of[*code as usize] as u16),
            Codes::Longs(codes) => codes.iter_mut().for_each(|code| *code = class_of[*code as usize]),
        }
        self.first_rows = order.iter().map(|&old| self.first_rows[old]).collect();
        self.counts = order.iter().map(|&old| self.counts[old]).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Cancel;

    const LIMIT: usize = 1 << 16;

    fn code(values: &[i64]) -> Coding {
        let cancel = Cancel::new();
        code_integers(values, LIMIT, &Workers::with_threads(2, &cancel)).expect("few classes")
    }

    #[test]
    fn integers_are_numbered_in_increasing_order() {
        for values in [vec![0, 1, 2, 1], vec![7, -3, 7, 100], vec![70_000, 0, 5], vec![i64::MIN, i64::MAX, 0, 0]] {
            let coding = code(&values);
            let mut labels = values.clone();
            labels.sort_unstable();
            labels.dedup();
            let Codes::Bytes(codes) = &coding.codes else { panic!("few classes fit a byte") };
            let decoded: Vec<i64> = codes.iter().map(|&code| labels[code as usize]).collect();
            assert_eq!(decoded, values);
            let firsts: Vec<i64> = coding.first_rows.iter().map(|&row| values[row]).collect();
            assert_eq!(firsts, labels);
            assert_eq!(coding.counts.iter().sum::<u64>(), values.len() as u64);
        }
    }

    #[test]
    fn codes_take_the_width_of_their_new_classes() {
        let codes = ClassCodes::Bytes(&[2, 0, 1, 2]);
        assert_eq!(recode(codes, &[1, 0, 2], 3), Codes::Bytes(vec![2, 1, 0, 2]));
        assert_eq!(recode(codes, &[7, 299, 5], 300), Codes::Words(vec![5, 7, 299, 5]));
        assert_eq!(recode(ClassCodes::Words(&[1, 0]), &[70_000, 1], 70_001), Codes::Longs(vec![1, 70_000]));
    }

    #[test]
    fn a_smaller_label_after_the_head_is_found() {
        let mut values = vec![5; 10_000];
        values[9_999] = -5;
        assert_eq!(code(&values).counts, [1, 9_999]);
    }

    #[test]
    fn many_classes_take_words() {
        let values: Vec<i64> = (0..1000).rev().collect();
        let Codes::Words(codes) = code(&values).codes else { panic!("1000 classes need words") };
        assert!(codes.iter().map(|&code| i64::from(code)).eq(values));
        for step in [1, 10] {
            many_labels(&(0..70_000).map(|label| label * step).collect::<Vec<_>>());
        }
    }

    /// Close together and far apart.
    fn many_labels(too_many: &[i64]) {
        let cancel = Cancel::new();
        let result = code_integers(too_many, LIMIT, &Workers::with_threads(1, &cancel));
        assert_eq!(result, Err(Error::TooManyClasses { limit: LIMIT }));
        let coding = code_integers(too_many, too_many.len(), &Workers::with_threads(1, &cancel)).expect("not too many");
        let Codes::Longs(codes) = coding.codes else { panic!("70,000 classes need four bytes") };
        assert!(codes.into_iter().eq(0..70_000));
        assert!(coding.first_rows.into_iter().eq(0..70_000));
        assert_eq!(coding.counts, vec![1; 70_000]);
    }

    #[test]
    fn records_are_numbered_as_they_appear() {
        let coding = code_bytes(b"dogcatdogcow", 3, LIMIT).expect("few classes");
        assert_eq!(coding.codes, Codes::Bytes(vec![0, 1, 0, 2]));
        assert_eq!((coding.first_rows, coding.counts), (vec![0, 1, 3], vec![2, 1, 1]));
    }
}
