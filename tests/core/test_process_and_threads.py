"""Forks, threads, signals, and calls that fail: the library inside a real process."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import multiauc
from strategies import make_sample, mixed_denominators, smooth, with_weights

TESTS = Path(__file__).parent
HANG = 60.0  # seconds after which a child that does not answer counts as hung


def sample_of(seed: int) -> tuple[np.ndarray, np.ndarray]:
    return make_sample(smooth, [400, 300, 200, 100], seed).data


def long_call(n: int = 6_000, k: int = 200) -> float:
    """A call of seconds, not milliseconds: a partition matrix without zeros costs K products per row and pair."""
    rng = np.random.default_rng(1)
    scores, partition = rng.dirichlet(np.ones(k), size=n), rng.random((k, k)) * (1 - np.eye(k))
    return multiauc.auc_mu_score(np.arange(n) % k, scores, partition=partition, sample_weight=rng.random(n))


def run_python(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    everything = {**os.environ, "PYTHONPATH": str(TESTS), **env}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=everything, capture_output=True, text=True, timeout=HANG, check=False)


# --- fork -------------------------------------------------------------------------------------------------------------


def answer_from_child(connection, seed: int) -> None:
    y, scores = sample_of(seed)
    connection.send((multiauc.auc_mu_score(y, scores), multiauc.hand_till_score(y, scores)))


def ask_forked_child(seed: int) -> tuple[float, float]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=answer_from_child, args=(sender, seed))
    child.start()
    try:
        assert receiver.poll(HANG), "the forked child hangs"
        return receiver.recv()
    finally:
        child.join(5)
        if child.is_alive():
            child.kill()
            child.join()


needs_fork = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
forks = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@needs_fork
@forks
@pytest.mark.parametrize("threads", [1, 2])
def test_a_forked_child_works_after_the_parent_has(threads, restore_threads):
    multiauc.set_num_threads(threads)
    long_call(4_000, 40)
    expected = multiauc.auc_mu_score(*sample_of(3)), multiauc.hand_till_score(*sample_of(3))
    assert ask_forked_child(3) == expected
    assert multiauc.auc_mu_score(*sample_of(3)) == expected[0]


@needs_fork
@forks
def test_a_child_forked_while_another_thread_computes_works(restore_threads):
    multiauc.set_num_threads(2)
    expected = multiauc.auc_mu_score(*sample_of(4)), multiauc.hand_till_score(*sample_of(4))
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(long_call)
        answers = [ask_forked_child(4) for _ in range(3)]
        value = working.result()
    assert answers == [expected] * 3
    assert value == long_call()


@pytest.mark.slow
@needs_fork
@forks
def test_a_large_call_in_a_forked_child_uses_its_own_threads(restore_threads):
    multiauc.set_num_threads(2)
    expected = long_call(4_000, 40)
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        answers = pool.starmap_async(long_call, [(4_000, 40)] * 2).get(timeout=HANG)
    assert answers == [expected] * 2


@pytest.mark.slow
def test_a_spawned_process_works():
    code = "import multiauc; print(multiauc.auc_mu_score([0, 1, 0, 1], [[.9, .1], [.2, .8], [.6, .4], [.3, .7]]))"
    assert run_python(code).stdout.strip() == "1.0"


# --- threads ----------------------------------------------------------------------------------------------------------


def test_concurrent_calls_give_the_results_of_calls_in_turn():
    samples = [sample_of(seed) for seed in range(24)]
    samples += [make_sample(mixed_denominators, [300, 200, 100], seed).data for seed in range(24)]
    expected = [(multiauc.auc_mu_score(*s), multiauc.one_vs_rest_score(*s)) for s in samples]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda s: (multiauc.auc_mu_score(*s), multiauc.one_vs_rest_score(*s)), samples))
    assert found == expected


@pytest.mark.slow
def test_other_python_threads_run_during_a_long_call():
    """With the GIL held this thread would wake at most a few times, around the beginning and the end of the call."""
    entered, left = threading.Event(), threading.Event()
    values = []

    def work() -> None:
        entered.set()
        values.append(long_call())
        left.set()

    worker = threading.Thread(target=work)
    worker.start()
    entered.wait()
    wakes = 0
    while not left.is_set():
        time.sleep(0.002)
        wakes += 1
    worker.join()
    assert 0 < values[0] < 1
    assert wakes > 30


@pytest.mark.slow
def test_an_array_written_to_during_the_call_does_no_harm():
    """The result is then meaningless, but the process and its later calls must survive any bits."""
    code = """
import threading, numpy as np, multiauc
rng = np.random.default_rng(0)
scores, y = rng.random((60_000, 6)), rng.integers(0, 6, 60_000)
weights = rng.random(60_000)
clean = scores.copy()
stop = threading.Event()
def scribble():
    noise = np.array([np.nan, np.inf, -np.inf, 1e308, -0.0, 5e-324, 0.1])
    other = np.random.default_rng(1)
    while not stop.is_set():
        scores[other.integers(0, 60_000, 5_000), other.integers(0, 6)] = noise[other.integers(0, 7)]
        weights[other.integers(0, 60_000, 500)] = noise[other.integers(0, 7)]
        scores[:] = clean
        weights[:] = 1.0
threads = [threading.Thread(target=scribble, daemon=True) for _ in range(2)]
[t.start() for t in threads]
calls = 0
for w in [None, weights] * 15:
    for f in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        try:
            f(y, scores, sample_weight=w)
        except ValueError:
            pass
        calls += 1
stop.set()
[t.join() for t in threads]
scores[:] = clean
print(calls, multiauc.auc_mu_score(y, scores) == multiauc.auc_mu_score(y, clean))
"""
    finished = run_python(code)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.split() == ["90", "True"]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_environment_sets_the_number_of_threads(threads):
    code = "import multiauc; print(multiauc.get_num_threads())"
    assert run_python(code, MULTIAUC_NUM_THREADS=threads).stdout.strip() == threads


def test_a_number_set_in_code_wins_over_the_environment():
    code = "import multiauc; multiauc.set_num_threads(2); print(multiauc.get_num_threads())"
    assert run_python(code, MULTIAUC_NUM_THREADS="5").stdout.strip() == "2"


CALLS = {
    "auc_mu_score": "multiauc.auc_mu_score(y, P)",
    "compare": "multiauc.compare(y, {'a': P, 'b': P})",
    "get_num_threads": "multiauc.get_num_threads()",
    "drop-in": "multiauc.sklearn.roc_auc_score(y, P, multi_class='ovo')",
    "training": "multiauc.training.MulticlassAuc(3).update(P, y)",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "call"),
    [
        *(("abc", call) for call in CALLS.values()),
        *((value, CALLS["auc_mu_score"]) for value in ("-1", "0", "0x2", "1.5", "", "9" * 30)),
    ],
)
def test_a_bad_environment_warns_once_where_it_is_first_used(call, value):
    code = f"""
import warnings, multiauc, multiauc.sklearn, multiauc.training
y, P = [0, 1, 2, 0, 1, 2], [[.5, .3, .2], [.2, .5, .3], [.3, .2, .5], [.6, .2, .2], [.3, .4, .3], [.1, .1, .8]]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {call}
    {call}
    multiauc.evaluate(y, P)
(warning,) = caught
print(warning.category.__name__, warning.filename, warning.lineno)
print(warning.message)
multiauc.get_num_threads()
"""
    finished = run_python(code, MULTIAUC_NUM_THREADS=value)
    origin, message = finished.stdout.splitlines()
    assert origin == "RuntimeWarning <string> 6"
    assert message.startswith("MULTIAUC_NUM_THREADS must be a number of threads from 1 on; got ")
    used = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert message.endswith(f"got {value!r}, which is ignored: using {used} thread{'s' if used > 1 else ''}")


@pytest.mark.parametrize("value", [None, "1", " 2 ", "+3"])
def test_a_good_environment_does_not_warn(value):
    code = "import multiauc; multiauc.auc_mu_score([0, 1, 1], [0.1, 0.3, 0.2])"
    environment = {} if value is None else {"MULTIAUC_NUM_THREADS": value}
    assert run_python(code, **environment).stderr == ""


def test_importing_starts_no_threads():
    code = "import numpy, multiauc, os; multiauc.auc_mu_score; print(len(os.listdir('/proc/self/task')))"
    baseline = "import numpy, os; print(len(os.listdir('/proc/self/task')))"
    if not Path("/proc/self/task").exists():
        pytest.skip("threads are counted in /proc")
    assert run_python(code).stdout == run_python(baseline).stdout


@pytest.mark.parametrize("bad", [-1, 1.5, "two", None, True], ids=repr)
def test_a_number_of_threads_that_is_none_is_refused(bad, restore_threads):
    with pytest.raises((ValueError, TypeError)):
        multiauc.set_num_threads(bad)


# --- signals ----------------------------------------------------------------------------------------------------------

INTERRUPTED = """
import sys
import numpy as np
import multiauc
call, n, k, threads = sys.argv[1], *map(int, sys.argv[2:])
multiauc.set_num_threads(threads)
rng = np.random.default_rng(1)
y, s, w = np.arange(n) % k, rng.random((n, k), dtype=np.float32), rng.random(n)
a = rng.permuted(np.tile(np.arange(k), (k, 1)), axis=1)  # a matrix without zeros in the differences of its rows
if "stored" in call:
    import scipy.sparse
    stored = scipy.sparse.csr_array(s)
run = eval("lambda: " + call)
try:
    print("computing", flush=True)
    run()
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(multiauc.auc_mu_score([0, 1], np.eye(2)), multiauc.hand_till_score([0, 1], np.eye(2)), flush=True)
"""

LONG_CALLS = {
    "partition": ("multiauc.auc_mu_score(y, s, partition=a, sample_weight=w)", 20_000, 300, 1),
    "partition on two threads": ("multiauc.auc_mu_score(y, s, partition=a, sample_weight=w)", 20_000, 300, 2),
    "weighted pairs": ("multiauc.auc_mu_score(y, s, sample_weight=w)", 300_000, 60, 1),
    "weighted columns": ("multiauc.hand_till_score(y, s, sample_weight=w)", 300_000, 60, 1),
    "one long weighted column": ("multiauc.hand_till_score(y, s, sample_weight=w)", 3_000_000, 2, 1),
    "micro": ("multiauc.one_vs_rest_score(y, s, average='micro', sample_weight=w)", 60_000, 200, 1),
    "sparse columns": ("multiauc.hand_till_score(y, stored)", 300_000, 60, 1),
    "one long sparse column": ("multiauc.hand_till_score(y, stored, sample_weight=w)", 3_000_000, 2, 1),
    "micro of sparse scores": ("multiauc.one_vs_rest_score(y, stored, average='micro')", 300_000, 60, 2),
    "curves": ("multiauc.roc_curves(y, s, kind='pairwise')", 60_000, 60, 1),
    "multi-class curve": ("multiauc.multiclass_roc(y, s)", 300_000, 60, 1),
    "bootstrap": ("multiauc.multiclass_roc(y, s).bootstrap(1_000_000)", 10_000, 5, 2),
    "bootstrap of scores": ("multiauc.evaluate(y, s).bootstrap(1_000_000)", 10_000, 5, 2),
    "bootstrap of many rows": ("multiauc.evaluate(y, s).bootstrap(1_000_000)", 300_000, 4, 2),
    "bootstrap of partial areas": ("multiauc.partial_auc(y, s, max_fpr=0.2).bootstrap(1_000_000)", 100_000, 5, 1),
    "triples": ("multiauc.hum_score(y, s)", 60_000, 3, 2),
    "triples in an evaluation": ("multiauc.evaluate(y, s, metrics=['hum'])", 60_000, 3, 1),
    "drawn tuples": ("multiauc.hum(y, s, precision=1e-7)", 5_000, 5, 2),
    "linear programmes": ("multiauc.ferri_vus_of_confusions(0.5 * np.eye(5) + 0.1, precision=1e-7)", 10, 2, 2),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("name", LONG_CALLS)
def test_ctrl_c_stops_a_long_call_and_leaves_the_library_working(name):
    call, n, k, threads = LONG_CALLS[name]
    for larger in (1, 2, 4):  # until the call is long enough on this machine
        command = [sys.executable, "-c", INTERRUPTED, call, *map(str, (larger * n, k, threads))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            try:
                assert child.stdout.readline().strip() == "computing"
                time.sleep(0.3)
                sent = time.perf_counter()
                child.send_signal(signal.SIGINT)
                outcome, waited = child.stdout.readline().strip(), time.perf_counter() - sent
                if outcome == "finished":
                    continue
                assert outcome == "interrupted"
                assert waited < 1.5
                assert child.stdout.readline().split() == ["1.0", "1.0"]
                assert child.wait(HANG) == 0
                return
            finally:
                child.kill()
    pytest.fail("no call was long enough to be interrupted")


# --- inputs and errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_inputs_are_never_modified(dtype):
    sample = with_weights(make_sample(smooth, [50, 40, 30], 5, dtype), "integer", 5)
    partition, pair_weights = np.array([[0.0, 2, 1], [1, 0, 1], [1, 3, 0]]), np.ones((3, 3))
    arrays = [sample.codes, sample.scores, sample.weights, partition, pair_weights]
    before = [array.copy() for array in arrays]
    how = {"sample_weight": sample.weights}
    multiauc.auc_mu_score(*sample.data, partition=partition, pair_weights=pair_weights, **how)
    multiauc.auc_mu_matrix(*sample.data, partition=partition, **how)
    multiauc.hand_till_score(*sample.data, pair_weights=pair_weights, **how)
    multiauc.hand_till_matrix(*sample.data, **how)
    multiauc.one_vs_rest_per_class(*sample.data, **how)
    multiauc.roc_curves(*sample.data, kind="pairwise", **how)
    for average in ("macro", "prevalence", "prevalence_equal_rest", "micro"):
        multiauc.one_vs_rest_score(*sample.data, average=average, **how)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert array.dtype == copy.dtype


@pytest.mark.parametrize(
    "spoil",
    [
        lambda y, s: (y, np.where(np.arange(len(y))[:, None] == 7, np.nan, s)),
        lambda y, s: (y, np.where(np.arange(len(y))[:, None] == 7, np.inf, s)),
        lambda y, s: (y[:-1], s),
        lambda y, s: (np.zeros_like(y), s),
        lambda y, s: (y[:0], s[:0]),
    ],
    ids=["nan", "infinite", "lengths differ", "one class", "empty"],
)
def test_an_error_leaves_the_next_call_working(spoil):
    y, scores = sample_of(6)
    expected = multiauc.auc_mu_score(y, scores)
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        with pytest.raises(ValueError, match=r"\w+"):
            score(*spoil(y, scores))
    assert multiauc.auc_mu_score(y, scores) == expected


def test_nan_in_the_last_cell_of_a_large_matrix_is_found(rng):
    y, scores = rng.integers(0, 3, size=300_000), rng.random((300_000, 3))
    scores[-1, -1] = np.nan
    for score in (multiauc.auc_mu_score, multiauc.hand_till_score, multiauc.one_vs_rest_score):
        with pytest.raises(ValueError, match=r"(?i)nan"):
            score(y, scores)
