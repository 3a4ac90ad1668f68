# SPDX-License-Identifier: Apache-2.0
"""Real traces of others: what fp8scope imports is compared with a second, simple reader (json, sqlite3) of the same file.

Needs ../shared/data; a clone without it skips these tests, and the project's own small files cover the same paths.
"""
import collections
import csv
import gzip
import json
import pathlib
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
PROGRAM = pathlib.Path(sys.argv.pop(1)) / "fp8scope"
TRACES = SOURCE.parent / "shared" / "data" / "traces"

KERNEL = {"kernel", "Kernel", "mtia_ccp_events"}
MEMCPY = {"gpu_memcpy", "Memcpy"}
MEMSET = {"gpu_memset", "Memset"}
CALL = {"cuda_runtime", "cuda_driver", "Runtime", "mtia_runtime"}
STEP_MARK = {"user_annotation", "cpu_op", "Operator"}


def fp8scope(*args):
    return subprocess.run([str(PROGRAM), *map(str, args)], capture_output=True, text=True, timeout=120)


def exact_ns(microseconds):
    """A decimal number of microseconds, kept as the text that the file has, in whole ns."""
    whole, _, part = str(microseconds).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


class Facts:
    """What a file holds, counted."""

    def __init__(self):
        self.kernels = self.memcpys = self.memsets = self.launched = self.kernel_ns = 0
        self.marks = set()
        self.linked_by_flows = False

    def __repr__(self):
        return (f"{self.kernels} kernels ({self.launched} launched, {self.kernel_ns} ns), {self.memcpys} copies, "
                f"{self.memsets} memsets, {len(self.marks)} marked steps")


def facts_of_kineto(text):
    # Numbers with a point stay text: a double cannot hold a time in ns since 1970.
    document = json.loads(text, parse_float=str, strict=False)
    events = document["traceEvents"] if isinstance(document, dict) else document
    facts = Facts()
    kernels = []
    calls = set()
    for event in events:
        if event.get("ph") != "X":
            continue
        category = event.get("cat")
        if category in KERNEL:
            kernels.append(event)
            facts.kernel_ns += exact_ns(event["dur"])
        elif category in CALL:
            calls.add(event.get("args", {}).get("correlation"))
        facts.memcpys += category in MEMCPY
        facts.memsets += category in MEMSET
        if category in STEP_MARK and event["name"].startswith("ProfilerStep#") and exact_ns(event["dur"]) > 0:
            facts.marks.add(event["name"])
    facts.kernels = len(kernels)
    facts.launched = sum(k.get("args", {}).get("correlation") in calls - {None, 0} for k in kernels)
    facts.linked_by_flows = bool(kernels) and all("correlation" not in k.get("args", {}) for k in kernels)
    if facts.linked_by_flows:
        heads = {(e["pid"], e["tid"], e["ts"]): e["id"] for e in events if e.get("ph") == "f"}
        tails = {e["id"] for e in events if e.get("ph") == "s"}
        facts.launched = sum(heads.get((k["pid"], k["tid"], k["ts"])) in tails for k in kernels)
    return facts


def facts_of_nsys(path):
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    tables = {row[0] for row in database.execute("select name from sqlite_master where type = 'table'")}

    def rows(table, columns):
        name = "CUPTI_ACTIVITY_KIND_" + table
        if name not in tables:
            return []
        has = {row[1] for row in database.execute(f"pragma table_info({name})")}
        return list(database.execute("select " + ", ".join(f"[{c}]" if c in has else "0" for c in columns) + f" from {name}"))

    facts = Facts()
    calls = {(tid >> 24, correlation) for tid, correlation in rows("RUNTIME", ("globalTid", "correlationId"))}
    kernels = rows("KERNEL", ("globalPid", "correlationId", "start", "end"))
    if not any(pid for pid, _, _, _ in kernels):  # cut by a tool that drops processes
        calls = {(0, correlation) for _, correlation in calls}
    for pid, correlation, start, end in kernels:
        facts.kernels += 1
        facts.kernel_ns += end - start
        facts.launched += (pid >> 24, correlation) in calls
    facts.memcpys = len(rows("MEMCPY", ("start",)))
    facts.memsets = len(rows("MEMSET", ("start",)))
    return facts


def facts_of(path):
    if path.suffix == ".sqlite":
        return [facts_of_nsys(path)]
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            members = [m for m in archive.getmembers() if m.isfile() and m.name.endswith(".json")]
            return [facts_of_kineto(archive.extractfile(m).read()) for m in members]
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        return [facts_of_kineto(file.read().decode("utf-8", "replace"))]


@unittest.skipUnless(TRACES.is_dir(), f"{TRACES} is not there")
class RealTraces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="fp8scope-import-")
        cls.dir = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def imported(self, *paths):
        out = self.dir / (paths[0].name + ".fp8trace")
        if not out.exists():
            result = fp8scope("import", *paths, "-o", out)
            self.assertEqual(result.returncode, 0, f"{paths}: {result.stderr}")
        return out

    def ask(self, *args):
        result = fp8scope(*args, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def rows(self, trace, sql):
        return self.ask("query", trace, sql, "--limit", "0")["rows"]

    def check_counts(self, path):
        trace = self.imported(path)
        expected = facts_of(path)

        def total(name):
            return sum(getattr(facts, name) for facts in expected)

        kinds = {kind: (count, ns) for kind, count, ns in self.rows(
            trace, "select s.kind, count(*), sum(s.dur_ns) from slice s join track t on t.id = s.track "
                   "where t.kind = 'device_queue' group by s.kind")}
        self.assertEqual(kinds.get("kernel", (0, 0)), (total("kernels"), total("kernel_ns")), path.name)
        self.assertEqual(kinds.get("memcpy", (0, 0))[0], total("memcpys"), path.name)
        self.assertEqual(kinds.get("memset", (0, 0))[0], total("memsets"), path.name)

        diagnostics = collections.Counter()
        for entry in self.ask("info", trace)["diagnostics"]:
            diagnostics[entry["name"]] += entry["count"]
        calls = self.rows(trace, "select count(*) from slice where kind = 'api'")[0][0]
        if calls:
            self.assertEqual(diagnostics["kernel-without-launch"], total("kernels") - total("launched"), path.name)
        if any(facts.linked_by_flows for facts in expected):
            self.assertEqual(diagnostics["launch-by-flow"], total("launched"), path.name)
        marked = sum(len(facts.marks) for facts in expected)
        if marked:
            self.assertEqual(self.rows(trace, "select count(*) from step")[0][0], marked, path.name)

    def check_breakdown(self, path):
        for run in self.ask("breakdown", self.imported(path))["runs"]:
            for key in ("families", "roles", "phases"):
                self.assertEqual(sum(part["exposed_ns"] for part in run[key]), run["step_ns"], (path.name, key))

    def test_kineto_counts_and_times_are_the_files(self):
        for path in sorted((TRACES / "kineto").iterdir()):
            with self.subTest(path.name):
                self.check_counts(path)
                self.check_breakdown(path)

    def test_nsys_counts_and_times_are_the_files(self):
        for path in sorted((TRACES / "nsys").iterdir()):
            with self.subTest(path.name):
                self.check_counts(path)
                self.check_breakdown(path)

    def test_every_question_has_an_answer(self):
        for path in sorted((TRACES / "kineto").glob("h100_gau*")) + sorted((TRACES / "nsys").glob("mfu*")):
            trace = self.imported(path)
            for command in ("info", "breakdown", "layers", "kernels", "gemms", "advise"):
                with self.subTest(f"{command} {path.name}"):
                    self.ask(command, trace)
            self.assertEqual(fp8scope("report", trace, "-o", self.dir / (path.name + ".md")).returncode, 0)

    def test_a_file_opens_without_importing_it_first(self):
        path = next((TRACES / "kineto").glob("h100_gau*"))
        self.assertEqual(self.ask("breakdown", path)["runs"], self.ask("breakdown", self.imported(path))["runs"])

    def test_the_ranks_of_an_archive_wait_for_the_last(self):
        ranks = self.ask("ranks", TRACES / "kineto" / "dlrm_kineto.tar.gz")
        self.assertEqual([row["rank"] for row in ranks["ranks"]], list(range(8)))
        self.assertEqual([row["rank"] for row in ranks["ranks"] if row["straggler"]], [7])
        self.assertEqual(ranks["unmatched"], 0)
        self.assertEqual(sum(row["matched"] for row in ranks["collectives"]), 8)

    def test_quantization_takes_as_long_as_hand_made_labels_say(self):
        path = TRACES / "kineto" / "b200_eager_trace.json.gz"
        with open(TRACES.parent / "kernel_names.tsv", encoding="utf-8") as file:
            labels = {row[0]: row[1] for row in csv.reader(file, delimiter="\t")}
        with gzip.open(path) as file:
            events = json.loads(file.read(), parse_float=str)["traceEvents"]
        expected = sum(exact_ns(event["dur"]) for event in events
                       if event.get("cat") in KERNEL and labels.get(event["name"]) == "cast_quant")
        measured = self.rows(self.imported(path), "select sum(dur_ns) from slice where family = 'Quantization'")[0][0]
        self.assertGreater(expected, 0)
        self.assertEqual(measured, expected)

    def test_neighbours_are_named_and_explained(self):
        words = {
            "execution_trace_benchmark_simple_add_et.json.gz": "execution trace",
            "memory_analysis_memory_timeline.raw.gz": "memory",
            "test.sqlite": "SQLite",
        }
        self.assertEqual(sorted(words), sorted(path.name for path in (TRACES / "neighbours").iterdir()))
        for name, word in words.items():
            with self.subTest(name):
                result = fp8scope("import", TRACES / "neighbours" / name, "-o", self.dir / "neighbour.fp8trace")
                self.assertEqual(result.returncode, 1)
                self.assertIn(word, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, "one sentence")
                self.assertFalse((self.dir / "neighbour.fp8trace").exists())


if __name__ == "__main__":
    unittest.main()
