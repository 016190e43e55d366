//! Large buffers on large pages.
//!
//! A fresh buffer of tens of megabytes costs one page fault for every 4 KiB, which is a quarter of the time of a whole
//! evaluation of a million rows. Asking for 2 MiB pages (as NumPy does for its own arrays) removes that. The request is
//! a hint: the buffer works the same if the system ignores it.

use std::sync::Mutex;

use crate::float::Float;

/// Smaller buffers are served from memory the allocator already has.
const SMALLEST: usize = 1 << 20;

/// Empties a buffer and makes room for so many values. Before they are written: pages that are there already stay small.
pub(crate) fn make_room<T>(buffer: &mut Vec<T>, length: usize) {
    buffer.clear();
    if buffer.capacity() < length {
        *buffer = Vec::with_capacity(length);
        #[cfg(target_os = "linux")]
        if length * size_of::<T>() >= SMALLEST {
            advise_huge_pages(buffer.spare_capacity_mut());
        }
    }
}

/// Makes a buffer so long; its contents are arbitrary.
pub(crate) fn set_length<T: Float>(buffer: &mut Vec<T>, length: usize) {
    if buffer.capacity() < length {
        make_room(buffer, length);
    }
    buffer.resize(length, T::ZERO);
}

/// Slices of these lengths, one after the other.
pub(crate) fn split<T>(mut values: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let slice = |length: usize| {
        let (first, rest) = std::mem::take(&mut values).split_at_mut(length);
        values = rest;
        first
    };
    lengths.map(slice).collect()
}

/// A buffer of zeros.
pub(crate) fn zeroed<T: Copy + Default>(length: usize) -> Vec<T> {
    let buffer = vec![T::default(); length];
    #[cfg(target_os = "linux")]
    if size_of_val(&buffer[..]) >= SMALLEST {
        advise_huge_pages(&buffer);
    }
    buffer
}

/// Makes a buffer so many zeros, in the memory it has if that is enough.
pub(crate) fn set_zeros<T: Float>(buffer: &mut Vec<T>, length: usize) {
    if buffer.capacity() < length {
        *buffer = zeroed(length);
    } else {
        buffer.clear();
        buffer.resize(length, T::ZERO);
    }
}

/// A pool of buffers for all threads to reuse: fresh memory costs as much as the work done in it.
#[derive(Debug)]
pub(crate) struct Buffers<T: Float>(Mutex<Vec<Vec<T>>>);

impl<T: Float> Drop for Buffers<T> {
    fn drop(&mut self) {
        let Ok(buffers) = self.0.get_mut() else { return };
        let is_large = |buffer: &Vec<T>| buffer.capacity() * size_of::<T>() >= SMALLEST;
        buffers.drain(..).filter(is_large).for_each(|buffer| T::spare().give(buffer));
    }
}

impl<T: Float> Default for Buffers<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T: Float> Buffers<T> {
    /// A buffer of that length; its contents are arbitrary.
    pub(crate) fn take(&self, length: usize) -> Vec<T> {
        let fitting = self.0.lock().ok().and_then(|mut buffers| {
            let fitting = buffers.iter().enumerate().filter(|(_, buffer)| buffer.capacity() >= length);
            let (smallest, _) = fitting.min_by_key(|(_, buffer)| buffer.capacity())?;
            Some(buffers.swap_remove(smallest))
        });
        if let Some(mut buffer) = fitting {
            buffer.resize(length, T::ZERO);
            return buffer;
        }
        let mut buffer = T::spare().take(length);
        if buffer.capacity() < length {
            // A little longer, so that it also fits the next class of about the same size.
            make_room(&mut buffer, length + length / 64);
        }
        buffer.resize(length, T::ZERO);
        buffer
    }

    /// A buffer of zeros.
    pub(crate) fn zeros(&self, length: usize) -> Vec<T> {
        let mut buffer = self.take(length);
        buffer.fill(T::ZERO);
        buffer
    }

    /// Returns a buffer to the pool.
    pub(crate) fn give_back(&self, buffer: Vec<T>) {
        if let Ok(mut buffers) = self.0.lock() {
            buffers.push(buffer);
        }
    }
}

/// Scratch values for all threads to reuse, with what they remember.
#[derive(Debug)]
pub(crate) struct Pool<S>(Mutex<Vec<S>>);

impl<S> Default for Pool<S> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<S: Default> Pool<S> {
    /// Does some work with a value that nobody else uses meanwhile.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        let spare = self.0.lock().ok().and_then(|mut idle| idle.pop());
        let mut scratch = spare.unwrap_or_default();
        let result = work(&mut scratch);
        if let Ok(mut idle) = self.0.lock() {
            idle.push(scratch);
        }
        result
    }
}

#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(buffer: &[T]) {
    const PAGE: usize = 4096;
    let bytes = size_of_val(buffer);
    let skipped = buffer.as_ptr().align_offset(PAGE) * size_of::<T>();
    if skipped > PAGE || skipped >= bytes {
        return;
    }
    // SAFETY: the range lies within the buffer, and the advice changes how memory is backed, never what it holds.
    #[allow(unsafe_code)]
    unsafe {
        let start = buffer.as_ptr().cast::<u8>().add(skipped);
        libc::madvise(start.cast_mut().cast(), bytes - skipped, libc::MADV_HUGEPAGE);
    }
}
