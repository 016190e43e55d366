//! Large buffers on large pages.
//!
//! A fresh buffer of tens of megabytes costs one page fault for every 4 KiB, which is a quarter of the time of a whole
//! evaluation of a million rows. Asking for 2 MiB pages (as NumPy does for its own arrays) removes that. The request is
//! a hint: whatever the system makes of it, the buffer is the same.

use crate::ranking::Key;

/// Smaller buffers are served from memory the allocator already has.
#[cfg(target_os = "linux")]
const SMALLEST: usize = 1 << 22;

/// A buffer of zeros.
pub(crate) fn zeroed<T: Key>(length: usize) -> Vec<T> {
    let buffer = vec![T::ZERO; length];
    #[cfg(target_os = "linux")]
    if size_of_val(&buffer[..]) >= SMALLEST {
        advise_huge_pages(&buffer);
    }
    buffer
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
