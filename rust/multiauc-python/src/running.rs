//! Long work on a worker thread, so that the calling thread can respond to Ctrl-C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use multiauc::{Cancel, Result, Workers};
use pyo3::prelude::*;

use crate::errors::{of_panic, to_python};

/// Below this many cells (a tenth of a second of work) the calling thread waits without checking signals.
const INLINE_CELLS: usize = 8_000_000;
/// How often signals are checked.
const SLICE: Duration = Duration::from_millis(50);

/// Runs `work` with the interpreter released; raises `KeyboardInterrupt` (or what the signal handler raises) soon after
/// a signal. A panic, which is a defect of the core, becomes an exception that `except Exception` catches; PyO3's own
/// derives from `BaseException`.
pub fn run<R: Send>(py: Python<'_>, cells: usize, work: impl FnOnce(&Workers<'_>) -> Result<R> + Send) -> PyResult<R> {
    let (mut work, mut result) = (Some(work), None);
    run_interruptibly(py, cells, &mut |workers| {
        // What is left half done belongs to the call, or to a state that its user can no longer trust.
        result = work.take().map(|work| catch_unwind(AssertUnwindSafe(|| work(workers))));
    })?;
    match result.expect("the work was run") {
        Ok(result) => result.map_err(to_python),
        Err(panic) => Err(of_panic(message_of(&*panic))),
    }
}

/// What a panic says.
fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Not generic, so that threads and channels are compiled once and not again for every kind of work.
fn run_interruptibly(py: Python<'_>, cells: usize, work: &mut (dyn FnMut(&Workers<'_>) + Send)) -> PyResult<()> {
    let cancel = &Cancel::new();
    if cells < INLINE_CELLS {
        let workers = Workers::for_cells(cells, cancel);
        py.detach(|| workers.install(|| work(&workers)));
        return Ok(());
    }
    std::thread::scope(|scope| {
        let (done, finished) = mpsc::channel();
        let worker = scope.spawn(move || {
            work(&Workers::for_cells(cells, cancel));
            // The receiver waits until this arrives or the thread ends.
            let _ = done.send(());
        });
        let mut interruption = None;
        // The receiver is not Sync, so it moves in and out of the section that runs without the interpreter.
        let mut finished = finished;
        loop {
            let (receiver, state) = py.detach(move || {
                let state = finished.recv_timeout(SLICE);
                (finished, state)
            });
            finished = receiver;
            if state != Err(mpsc::RecvTimeoutError::Timeout) {
                break;
            }
            if interruption.is_none()
                && let Err(error) = py.check_signals()
            {
                cancel.raise();
                interruption = Some(error);
            }
        }
        let ended = py.detach(|| worker.join());
        match (interruption, ended) {
            (_, Err(panic)) => std::panic::resume_unwind(panic),
            (Some(error), _) => Err(error),
            (None, Ok(())) => Ok(()),
        }
    })
}
