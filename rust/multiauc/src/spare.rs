//! Memory kept from one computation for the next.

use std::sync::Mutex;

/// Buffers that outlive a computation, for the next one: memory that an allocator gave back to the system costs a page
/// fault for every 4 KiB when it is needed again, which was a third of an evaluation of 100,000 rows of ten classes.
#[derive(Debug)]
pub struct SpareBuffers<T>(Mutex<Vec<Vec<T>>>);

impl<T> SpareBuffers<T> {
    /// Bytes of the smallest buffer that is kept.
    const FEWEST_BYTES: usize = 1 << 17;
    /// Bytes that are kept, and in how many buffers.
    const MOST_BYTES: usize = 1 << 26;
    const MOST_BUFFERS: usize = 64;

    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A buffer with room for so many values, of any length and content; an empty one if none fits. It never waits for the
    /// lock: after a fork, the thread that holds it may no longer exist.
    pub(crate) fn take(&self, length: usize) -> Vec<T> {
        let fitting = self.0.try_lock().ok().and_then(|mut spare| {
            let fits = |(_, buffer): &(usize, &Vec<T>)| (length..=4 * length).contains(&buffer.capacity());
            let (smallest, _) = spare.iter().enumerate().filter(fits).min_by_key(|(_, buffer)| buffer.capacity())?;
            Some(spare.swap_remove(smallest))
        });
        fitting.unwrap_or_default()
    }

    /// Keeps a buffer in place of the oldest ones. Small ones are left to the allocator, which keeps them itself.
    pub(crate) fn give(&self, buffer: Vec<T>) {
        let bytes_of = |buffer: &Vec<T>| buffer.capacity() * size_of::<T>();
        if !(Self::FEWEST_BYTES..=Self::MOST_BYTES).contains(&bytes_of(&buffer)) {
            return;
        }
        if let Ok(mut spare) = self.0.try_lock() {
            spare.push(buffer);
            let mut bytes: usize = spare.iter().map(bytes_of).sum();
            while bytes > Self::MOST_BYTES || spare.len() > Self::MOST_BUFFERS {
                bytes -= bytes_of(&spare.remove(0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_buffers_are_kept_up_to_a_size() {
        let spare: SpareBuffers<f64> = SpareBuffers::new();
        let lengths = |spare: &SpareBuffers<f64>| -> Vec<usize> {
            spare.0.lock().expect("one thread").iter().map(Vec::len).collect()
        };
        let (most, length) = (SpareBuffers::<f64>::MOST_BYTES / 8, SpareBuffers::<f64>::FEWEST_BYTES / 8);
        assert_eq!(spare.take(length).capacity(), 0);
        for given in [length, 2 * length, length - 1, most + 1] {
            spare.give(vec![0.0; given]);
        }
        assert_eq!(lengths(&spare), [length, 2 * length]);
        assert_eq!(spare.take(3 * length).len(), 0);
        assert_eq!(spare.take(length / 5).len(), 0); // much smaller than any
        assert_eq!(spare.take(length - 1).len(), length);
        spare.give(vec![0.0; length]);
        spare.give(vec![0.0; most - length]); // too much together with the oldest
        assert_eq!(lengths(&spare), [length, most - length]);
    }
}
