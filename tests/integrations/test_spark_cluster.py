"""multiauc.spark on executors that are processes of their own, one of which is killed while it works."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="Spark has an environment of its own: make test-spark")

import multiauc

#: In a process of its own: there is one Spark to a process, and this one has another master.
SCRIPT = """
import json, os, signal, sys
import numpy as np
import multiauc.spark
from pathlib import Path
from pyspark.sql import SparkSession

rows, marker = sys.argv[1:]
spark = (
    SparkSession.builder.master("local-cluster[2,1,512]")
    .config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
    .config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", "2").getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")

def killing_the_executor(batches):
    for batch in batches:
        if not Path(marker).exists():
            daemon = os.getppid()
            executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
            assert "CoarseGrainedExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_text()
            Path(marker).write_text(str(executor))
            os.kill(executor, signal.SIGKILL)
        yield batch

df = spark.read.parquet(rows).repartition(6)
found = multiauc.spark.evaluate(df.mapInArrow(killing_the_executor, df.schema), label="y", memory_limit=70_000)
print(json.dumps({name: [one.value, one.exact] for name, one in found.metrics.items()}))
spark.stop()
"""


def test_an_executor_that_is_lost_is_made_up_for(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=6000)
    scores = rng.normal(size=(6000, 3)) + np.eye(3)[y]
    parquet.write_table(pa.table({"y": y, **{f"p_{k}": scores[:, k] for k in range(3)}}), tmp_path / "rows.parquet")
    marker = tmp_path / "killed"
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "rows.parquet"), str(marker)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=150)
    assert done.returncode == 0, done.stderr[-2000:]
    assert Path(marker).exists()
    expected = multiauc.evaluate(y, scores)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {name: [one.value, True] for name, one in expected.metrics.items()}
