//! Memory kept from one computation for the next.

use std::sync::Mutex;

/// Buffers that outlive a computation, for the next one: memory that an allocator gave back to the system costs a page
/// fault for every 4 KiB when it is needed again, which was a third of an evaluation of 100,000 rows of ten classes.
#[derive(Debug)]
pub struct SpareBuffers<T>(Mutex<Vec<Vec<T>>>);

impl<T> SpareBuffers<T> {
    /// Bytes that are kept, and in how many buffers.
    const MOST_BYTES: usize = 1 << 24;
    const MOST_BUFFERS: usize = 64;

    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A buffer of any length and content, empty if none is spare. It never waits for the lock: after a fork, the thread
    /// that holds it may no longer exist.
    pub(crate) fn take(&self) -> Vec<T> {
        self.0.try_lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default()
    }

    /// Keeps a buffer, if there is room for it.
    pub(crate) fn give(&self, buffer: Vec<T>) {
        if let Ok(mut spare) = self.0.try_lock() {
            let bytes: usize = spare.iter().chain([&buffer]).map(|buffer| buffer.capacity() * size_of::<T>()).sum();
            if bytes <= Self::MOST_BYTES && spare.len() < Self::MOST_BUFFERS && buffer.capacity() > 0 {
                spare.push(buffer);
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
        assert_eq!(spare.take().capacity(), 0);
        spare.give(vec![0.0; 1000]);
        spare.give(vec![0.0; SpareBuffers::<f64>::MOST_BYTES / 8]); // together with the first, too much
        assert_eq!(spare.take().len(), 1000);
        assert_eq!(spare.take().len(), 0);
    }
}
