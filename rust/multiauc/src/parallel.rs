//! The crate's only use of rayon: a pool that is built lazily and survives `fork`, and work that can be cancelled.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::error::{Error, Result};

/// A flag that another thread raises to stop a computation; checked once per task.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// A flag that is not raised.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Asks the computation to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Threads asked for by [`set_num_threads`]; 0 means the default.
static REQUESTED_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads of later computations; 0 restores the default.
pub fn set_num_threads(threads: usize) {
    REQUESTED_THREADS.store(threads, Ordering::Relaxed);
}

/// The number of threads in use: the number set, else `MULTIAUC_NUM_THREADS`, else one per available core.
#[must_use]
pub fn num_threads() -> usize {
    match REQUESTED_THREADS.load(Ordering::Relaxed) {
        0 => default_threads(),
        threads => threads,
    }
}

fn default_threads() -> usize {
    std::env::var("MULTIAUC_NUM_THREADS")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .filter(|&threads| threads > 0)
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// The threads that do the work, and the flag that stops it.
#[derive(Debug, Clone)]
pub struct Workers<'a> {
    pool: Option<Arc<rayon::ThreadPool>>,
    cancel: &'a Cancel,
}

impl<'a> Workers<'a> {
    /// Workers for about `cells` cells of work: small jobs stay on the calling thread, where they finish sooner.
    #[must_use]
    pub fn for_cells(cells: usize, cancel: &'a Cancel) -> Self {
        const SERIAL_CELLS: usize = 50_000;
        let threads = if cells < SERIAL_CELLS { 1 } else { num_threads() };
        Self::with_threads(threads, cancel)
    }

    /// Exactly `threads` workers.
    #[must_use]
    pub fn with_threads(threads: usize, cancel: &'a Cancel) -> Self {
        let pool = (threads > 1).then(|| shared_pool(threads)).flatten();
        Self { pool, cancel }
    }

    /// The calling thread alone, stopped by the same flag: for tasks too small to split.
    #[must_use]
    pub fn alone(&self) -> Self {
        Self { pool: None, cancel: self.cancel }
    }

    /// The same threads, which nothing stops: for steps that must not end half-way.
    pub(crate) fn uninterrupted(&self) -> Workers<'static> {
        static NEVER: Cancel = Cancel::new();
        Workers { pool: self.pool.clone(), cancel: &NEVER }
    }

    /// Number of threads that work.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// # Errors
    /// [`Error::Cancelled`] once the flag is raised.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_raised() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Runs `work` on one of the pool's threads, so that each `map` inside it starts without a hand-over between
    /// threads. For short work only: other callers may have to wait for it.
    #[allow(clippy::missing_panics_doc, reason = "the pool runs the work")]
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let Some(pool) = &self.pool else { return work() };
        let (mut work, mut result) = (Some(work), None);
        run_inside(pool, &mut || result = work.take().map(|work| work()));
        result.expect("the pool ran the work")
    }

    /// Rows split into spans: several per thread, so that no thread waits long for another.
    pub(crate) fn row_spans(&self, rows: usize, per_thread: usize) -> Vec<Range<usize>> {
        const SMALLEST: usize = 8192;
        let count = if self.threads() == 1 { 1 } else { (rows / SMALLEST).clamp(1, per_thread * self.threads()) };
        (0..count).map(|span| span * rows / count..(span + 1) * rows / count).collect()
    }

    /// `task(0)`, …, `task(count - 1)` in any order, the results in index order. Tasks may call `map` again.
    ///
    /// # Errors
    /// The first error of a task, or [`Error::Cancelled`].
    pub fn map<R: Send>(&self, count: usize, task: impl Fn(usize) -> Result<R> + Sync) -> Result<Vec<R>> {
        self.map_with(count, || (), |(), index| task(index))
    }

    /// Like [`map`](Self::map), with a scratch value that the tasks of a thread share.
    ///
    /// # Errors
    /// As [`map`](Self::map).
    pub fn map_with<S, R: Send>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync,
        task: impl Fn(&mut S, usize) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        // Every thread takes the next free task until none are left. (Rayon's own `map_init` makes a scratch value for
        // every piece it splits off: here, for every task.)
        self.gather(count, &|tasks: &Tasks<'_, R>| {
            let Some(mut index) = tasks.next() else { return };
            let mut own = scratch();
            loop {
                tasks.end(index, task(&mut own, index));
                match tasks.next() {
                    Some(another) => index = another,
                    None => return,
                }
            }
        })
    }

    /// The results of tasks that `work`, called on every thread, takes until none are left.
    ///
    /// Generic in what a task returns alone: compiled once for all tasks that return the same.
    fn gather<R: Send>(&self, count: usize, work: &(dyn Fn(&Tasks<'_, R>) + Sync)) -> Result<Vec<R>> {
        let ended = Mutex::new(Ended { results: (0..count).map(|_| None).collect(), first_error: None });
        let tasks = Tasks { next: AtomicUsize::new(0), count, ended, cancel: self.cancel };
        self.on_threads(count, &|| work(&tasks));
        let ended = tasks.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, error)) = ended.first_error {
            return Err(error);
        }
        let mut results = Vec::with_capacity(count);
        for result in ended.results {
            results.push(result.expect("every task has ended"));
        }
        Ok(results)
    }

    /// Runs `work` on as many threads at once as `tasks` can keep busy.
    ///
    /// Not generic, like [`run_inside`]: rayon's own functions are many and long, and would be compiled again for every
    /// kind of work.
    fn on_threads(&self, tasks: usize, work: &(dyn Fn() + Sync)) {
        match &self.pool {
            Some(pool) if tasks > 1 => {
                let threads = pool.current_num_threads().min(tasks);
                pool.install(|| (0..threads).into_par_iter().with_max_len(1).for_each(|_| work()));
            }
            _ => work(),
        }
    }

    /// `task(i, chunk i)` for the chunks of `length` entries of a slice, in any order, the results in order.
    ///
    /// # Errors
    /// As [`map`](Self::map).
    pub(crate) fn map_chunks<T: Send, R: Send>(
        &self,
        values: &mut [T],
        length: usize,
        task: impl Fn(usize, &mut [T]) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let chunks: Vec<Mutex<&mut [T]>> = values.chunks_mut(length).map(Mutex::new).collect();
        self.map(chunks.len(), |index| task(index, &mut locked(&chunks[index])))
    }
}

/// Tasks that wait for a thread, and what came out of the others.
struct Tasks<'a, R> {
    next: AtomicUsize,
    count: usize,
    ended: Mutex<Ended<R>>,
    cancel: &'a Cancel,
}

struct Ended<R> {
    results: Vec<Option<R>>,
    /// Of the failed tasks the one with the smallest index.
    first_error: Option<(usize, Error)>,
}

impl<R> Tasks<'_, R> {
    /// A task that nobody has taken; none once one has failed or the flag is raised.
    fn next(&self) -> Option<usize> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= self.count {
            return None;
        }
        if self.cancel.is_raised() {
            self.end(index, Err(Error::Cancelled));
            return None;
        }
        Some(index)
    }

    /// Takes note of how a task ended. After a failure no more are given out.
    fn end(&self, index: usize, result: Result<R>) {
        let mut ended = locked(&self.ended);
        match result {
            Ok(result) => ended.results[index] = Some(result),
            Err(error) => {
                self.next.store(self.count, Ordering::Relaxed);
                if ended.first_error.as_ref().is_none_or(|&(earlier, _)| index < earlier) {
                    ended.first_error = Some((index, error));
                }
            }
        }
    }
}

/// What a mutex holds. A task that panics ends the whole `map`, so that nobody sees what it left behind.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on one of the pool's threads.
fn run_inside(pool: &rayon::ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

struct SharedPool {
    process: u32,
    pool: Arc<rayon::ThreadPool>,
}

/// This process's pool with that many threads. A forked child has none of its parent's threads, so the pool belongs to
/// a process id; the parent's is forgotten, not dropped, because dropping would signal threads that are not there.
/// `None` (serial work) if the operating system refuses to start threads.
fn shared_pool(threads: usize) -> Option<Arc<rayon::ThreadPool>> {
    static SHARED: Mutex<Option<SharedPool>> = Mutex::new(None);
    // In a forked child the lock may be held for ever by a thread that does not exist there: never wait for it.
    let Ok(mut shared) = SHARED.try_lock() else { return build_pool(threads) };
    let process = std::process::id();
    if let Some(current) = shared.as_ref()
        && current.process == process
        && current.pool.current_num_threads() == threads
    {
        return Some(Arc::clone(&current.pool));
    }
    let pool = build_pool(threads)?;
    if let Some(previous) = shared.replace(SharedPool { process, pool: Arc::clone(&pool) })
        && previous.process != process
    {
        std::mem::forget(previous);
    }
    Some(pool)
}

fn build_pool(threads: usize) -> Option<Arc<rayon::ThreadPool>> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("multiauc-{index}"))
        .build()
        .ok()
        .map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a test on the calling thread alone, and on three threads.
    fn with_workers(run: impl Fn(&Workers<'_>, &Cancel)) {
        for threads in [1, 3] {
            let cancel = Cancel::new();
            run(&Workers::with_threads(threads, &cancel), &cancel);
        }
    }

    #[test]
    fn results_come_in_index_order() {
        with_workers(|workers, _| {
            for count in [0, 1, 2, 1000] {
                let found = workers.map(count, |index| Ok(index * index)).expect("no errors");
                assert_eq!(found, (0..count).map(|index| index * index).collect::<Vec<_>>());
            }
        });
    }

    #[test]
    fn the_first_error_is_returned_and_stops_the_rest() {
        const MANY: usize = 10_000_000;
        let cancel = Cancel::new();
        let alone = Workers::with_threads(1, &cancel);
        let started = AtomicUsize::new(0);
        let failing = |index: usize| {
            started.fetch_add(1, Ordering::Relaxed);
            if index < 5 { Ok(()) } else { Err(Error::AbsentClass { class: index }) }
        };
        assert_eq!(alone.map(MANY, failing), Err(Error::AbsentClass { class: 5 }));
        assert_eq!(started.into_inner(), 6);

        // Task 0 fails once another thread is at work, and that thread goes on only after the failure.
        let three = Workers::with_threads(3, &cancel);
        assert_eq!(three.threads(), 3);
        let (started, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let wait_for = |is_reached: &dyn Fn() -> bool| {
            while !is_reached() {
                std::thread::yield_now();
            }
        };
        let found = three.map(MANY, |index| {
            started.fetch_add(1, Ordering::Relaxed);
            if index == 0 {
                wait_for(&|| started.load(Ordering::Relaxed) > 1);
                has_failed.store(true, Ordering::Relaxed);
                return Err(Error::AbsentClass { class: index });
            }
            wait_for(&|| has_failed.load(Ordering::Relaxed));
            Ok(())
        });
        assert_eq!(found, Err(Error::AbsentClass { class: 0 }));
        assert!(started.into_inner() < MANY);
    }

    #[test]
    fn a_raised_flag_stops_all_kinds_of_work() {
        with_workers(|workers, cancel| {
            assert_eq!(workers.check(), Ok(()));
            cancel.raise();
            let never = |_| -> Result<()> { unreachable!("no task starts") };
            assert_eq!(workers.check(), Err(Error::Cancelled));
            assert_eq!(workers.map(4, never), Err(Error::Cancelled));
            assert_eq!(workers.alone().map(4, never), Err(Error::Cancelled));
            assert_eq!(workers.map_chunks(&mut [1, 2, 3], 1, |index, _| never(index)), Err(Error::Cancelled));
        });
    }

    #[test]
    fn a_flag_raised_by_a_task_stops_the_tasks_after_it() {
        let cancel = Cancel::new();
        let started = AtomicUsize::new(0);
        let found = Workers::with_threads(1, &cancel).map(10, |index| {
            started.fetch_add(1, Ordering::Relaxed);
            if index == 3 {
                cancel.raise();
            }
            Ok(())
        });
        assert_eq!(found, Err(Error::Cancelled));
        assert_eq!(started.into_inner(), 4);
    }

    #[test]
    fn tasks_may_map_again() {
        with_workers(|workers, _| {
            let row = |outer: usize| workers.map(7, move |inner| Ok(outer * 7 + inner));
            let found = workers.map(20, row).expect("no errors");
            assert!(found.into_iter().flatten().eq(0..140));
            assert_eq!(workers.install(|| workers.map(3, Ok)), Ok(vec![0, 1, 2]));
        });
    }

    #[test]
    fn each_thread_makes_one_scratch_value_and_keeps_it() {
        with_workers(|workers, _| {
            let made = AtomicUsize::new(0);
            let scratch = || {
                made.fetch_add(1, Ordering::Relaxed);
                0
            };
            let earlier_uses = |uses: &mut usize, _| {
                *uses += 1;
                Ok(*uses - 1)
            };
            assert_eq!(workers.map_with(0, scratch, earlier_uses), Ok(vec![]));
            assert_eq!(made.load(Ordering::Relaxed), 0, "no tasks, no scratch value");
            let found = workers.map_with(100, scratch, earlier_uses).expect("no errors");
            let made = made.load(Ordering::Relaxed);
            assert!((1..=workers.threads()).contains(&made));
            // Every scratch value is new to exactly one task.
            assert_eq!(found.iter().filter(|&&uses| uses == 0).count(), made);
        });
    }

    #[test]
    fn chunks_are_worked_on_in_place() {
        with_workers(|workers, _| {
            let mut values: Vec<usize> = (0..10).collect();
            let task = |index: usize, chunk: &mut [usize]| {
                for value in chunk.iter_mut() {
                    *value += 100 * index;
                }
                Ok(chunk.len())
            };
            assert_eq!(workers.map_chunks(&mut values, 4, task), Ok(vec![4, 4, 2]));
            assert_eq!(values, [0, 1, 2, 3, 104, 105, 106, 107, 208, 209]);
        });
    }

    #[test]
    fn spans_cover_every_row_once() {
        with_workers(|workers, _| {
            for rows in [0, 1, 8191, 8192, 100_000, 1_000_003] {
                for per_thread in [1, 2, 8] {
                    let spans = workers.row_spans(rows, per_thread);
                    let most = if workers.threads() == 1 { 1 } else { per_thread * workers.threads() };
                    assert!((1..=most).contains(&spans.len()));
                    let mut covered = 0;
                    for span in spans {
                        assert_eq!(span.start, covered);
                        assert!(span.end >= span.start);
                        covered = span.end;
                    }
                    assert_eq!(covered, rows);
                }
            }
        });
    }

    #[test]
    fn workers_have_the_threads_asked_for_and_alone_only_one() {
        let cancel = Cancel::new();
        let three = Workers::with_threads(3, &cancel);
        assert_eq!((three.threads(), three.alone().threads()), (3, 1));
        assert_eq!(Workers::for_cells(100, &cancel).threads(), 1, "small jobs stay on the calling thread");
    }
}
