//! Tasks with large results: a few at a time.

use crate::error::Result;
use crate::memory::Pool;
use crate::parallel::Workers;

/// Runs `task(scratch, 0)`, …, `task(scratch, count − 1)` in waves: `consume` gets the results of each wave in order,
/// so that no more than `per_thread` of them are kept for each thread. Scratch comes from `pool`.
pub(super) fn in_waves<S: Default + Send, R: Send>(
    workers: &Workers<'_>,
    pool: &Pool<S>,
    (count, per_thread): (usize, usize),
    task: impl Fn(&mut S, usize) -> Result<R> + Sync,
    mut consume: impl FnMut(Vec<R>) -> Result<()>,
) -> Result<()> {
    let wave = if workers.threads() == 1 { 1 } else { per_thread * workers.threads() };
    for first in (0..count).step_by(wave) {
        let results =
            workers.map(wave.min(count - first), |index| pool.with(|scratch| task(scratch, first + index)))?;
        consume(results)?;
    }
    Ok(())
}
