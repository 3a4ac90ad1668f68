# SPDX-License-Identifier: Apache-2.0
"""The command as a user meets it: a small run in three modes, every question asked of it, and wrong input."""
import csv
import io
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1))
PROGRAM = BIN / "fp8scope"
SMALL = ["--widths", "64,128,64", "--batch", "64", "--steps", "8", "--warmup", "2"]


def fp8scope(*args, **kwargs):
    return subprocess.run([str(PROGRAM), *map(str, args)], capture_output=True, text=True, timeout=120, **kwargs)


class Fixture(unittest.TestCase):
    """One recorded run, shared by all tests that only read it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="fp8scope-e2e-")
        cls.dir = pathlib.Path(cls.folder.name)
        cls.trace = cls.dir / "small.fp8trace"
        cls.run_result = fp8scope("run", *SMALL, "-o", cls.trace)
        if cls.run_result.returncode != 0:
            raise AssertionError("the run failed:\n" + cls.run_result.stdout + cls.run_result.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ask(self, *args):
        result = fp8scope(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def ask_json(self, *args):
        document = json.loads(self.ask(*args, "--format", "json"))
        self.assertEqual(document["schema_version"], 1)
        return document


class Questions(Fixture):
    def test_run_prints_where_the_time_went(self):
        out = self.run_result.stdout
        for word in ("measured on a CPU", "GEMM", "Quantization", "no FP8 units", "What to change"):
            self.assertIn(word, out)

    def test_info_names_the_three_runs(self):
        runs = self.ask_json("info", self.trace)["runs"]
        self.assertEqual([r["mode"] for r in runs], ["bf16", "fp8", "fp8-fused"])
        self.assertEqual([r["steps"] for r in runs], [10, 10, 10])
        self.assertTrue(all(r["complete"] for r in runs))

    def test_breakdown_adds_up_to_the_step_exactly(self):
        for run in self.ask_json("breakdown", self.trace)["runs"]:
            self.assertEqual(run["origin"], "measured-cpu")
            self.assertGreater(run["step_ns"], 0)
            for key in ("families", "roles", "phases"):
                self.assertEqual(sum(part["exposed_ns"] for part in run[key]), run["step_ns"], (run["mode"], key))

    def test_layers_add_up_to_the_step_exactly(self):
        for run in self.ask_json("layers", self.trace)["runs"]:
            self.assertEqual(sum(layer["total_ns"] for layer in run["layers"]), run["step_ns"], run["mode"])

    def test_account_adds_up_exactly(self):
        accounts = self.ask_json("compare", self.trace)["accounts"]
        self.assertEqual([(a["from"], a["to"]) for a in accounts], [("bf16", "fp8"), ("bf16", "fp8-fused")])
        for a in accounts:
            self.assertEqual(a["from_ns"] + sum(bar["delta_ns"] for bar in a["bars"]), a["to_ns"])
            self.assertEqual(a["ideal_gemm_ratio"], 1)

    def test_bf16_quantizes_nothing_and_fp8_does(self):
        families = {run["mode"]: {f["family"]: f["busy_ns"] for f in run["families"]}
                    for run in self.ask_json("breakdown", self.trace)["runs"]}
        self.assertEqual(families["bf16"]["Quantization"], 0)
        self.assertGreater(families["fp8"]["Quantization"], families["fp8-fused"]["Quantization"])
        self.assertGreater(families["fp8"]["GEMM fp8"], 0)

    def test_kernels_and_numerics_answer(self):
        kernels = self.ask_json("kernels", self.trace, "--run", "fp8", "--top", "0")["runs"][0]["kernels"]
        self.assertTrue(any(k["role"] == "transpose" for k in kernels))
        numerics = {r["mode"]: r for r in self.ask_json("numerics", self.trace)["runs"]}
        self.assertEqual(numerics["bf16"]["tensors"], [])
        self.assertGreater(len(numerics["fp8"]["tensors"]), 0)
        self.assertEqual(len(numerics["fp8"]["loss"]), 10)

    def test_advise_findings_have_gain_and_evidence(self):
        findings = self.ask_json("advise", self.trace)["findings"]
        self.assertTrue(findings)
        for f in findings:
            self.assertLessEqual(f["gain_low_ns"], f["gain_ns"])
            self.assertLessEqual(f["gain_ns"], f["gain_high_ns"])
            self.assertTrue(f["title"])

    def test_query_sees_slices_and_csv_parses(self):
        count = self.ask_json("query", self.trace, "select count(*) from slice")["rows"][0][0]
        self.assertEqual(count, self.ask_json("info", self.trace)["slices"])
        rows = list(csv.DictReader(io.StringIO(self.ask("breakdown", self.trace, "--format", "csv"))))
        self.assertIn("Quantization", [row["family"] for row in rows])

    def test_query_cannot_write(self):
        for sql in ("delete from step", "drop table step", "attach 'x.db' as x", "pragma user_version = 9"):
            result = fp8scope("query", self.trace, sql)
            self.assertEqual(result.returncode, 1, sql)
            self.assertTrue(result.stderr.startswith("fp8scope: "), result.stderr)

    def test_a_reader_that_leaves_early_is_no_error(self):
        process = subprocess.Popen([str(PROGRAM), "query", str(self.trace), "select * from slice", "--limit", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        self.assertEqual((process.wait(timeout=60), said), (0, ""))

    def test_a_full_disk_under_the_output_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([str(PROGRAM), "info", str(self.trace)], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output cannot be written", done.stderr)

    def test_tables_fit_100_columns(self):
        for command in (["info"], ["breakdown"], ["breakdown", "--by", "role"], ["layers"], ["kernels"], ["compare"],
                        ["advise"], ["numerics"], ["query"]):
            extra = ["select * from slice limit 5"] if command[0] == "query" else []
            for line in self.ask(command[0], self.trace, *extra, *command[1:]).splitlines():
                if command[0] != "query":
                    self.assertLessEqual(len(line), 100, (command, line))

    def test_report_as_markdown_and_html(self):
        for name in ("r.md", "r.html"):
            self.ask("report", self.trace, "-o", self.dir / name)
            text = (self.dir / name).read_text()
            self.assertIn("measured on a CPU", text)
            self.assertIn("fp8-fused", text)

    def test_report_as_pdf(self):
        if not (BIN / "fp8scope-gui").exists():
            self.skipTest("built without the app")
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "QT_QPA_PLATFORM")}
        result = fp8scope("report", self.trace, "-o", self.dir / "r.pdf", env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.dir / "r.pdf").read_bytes()[:5], b"%PDF-")

    def test_the_sqlite3_library_reads_the_tables(self):
        with sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True) as db:
            self.assertEqual(db.execute("select count(*) from step").fetchone()[0], 30)


class Export(Fixture):
    def export(self, form, name, *args, source=None):
        out = self.dir / name
        self.ask("export", source or self.trace, "--format", form, "-o", out, *args)
        return out

    def slices(self, trace):
        sql = "select count(*), sum(dur_ns) from slice where name not like 'ProfilerStep#%'"
        return self.ask("query", trace, sql, "--format", "csv").splitlines()[1]

    def test_chrome_json_comes_back_as_the_same_slices(self):
        out = self.export("chrome", "small.json.gz")
        self.ask("import", out, "-o", self.dir / "again.fp8trace")
        self.assertEqual(self.slices(self.dir / "again.fp8trace"), self.slices(self.trace))

    def test_sqlite_comes_back_as_the_same_slices(self):
        out = self.export("sqlite-nsys-like", "small.sqlite")
        self.ask("import", out, "-o", self.dir / "from-sqlite.fp8trace")
        self.assertEqual(self.slices(self.dir / "from-sqlite.fp8trace"), self.slices(self.trace))
        with sqlite3.connect(out) as db:
            query = ("select count(*) from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName "
                     "where s.value like '%gemm%'")
            self.assertGreater(db.execute(query).fetchone()[0], 0)

    def test_csv_has_the_families_of_the_breakdown(self):
        out = self.export("csv", "small.csv", "--run", "fp8")
        document = self.ask_json("breakdown", self.trace, "--run", "fp8")["runs"][0]
        with out.open(newline="") as text:
            rows = list(csv.DictReader(text))
        self.assertEqual({r["run"] for r in rows}, {"fp8"})
        families = {r["family"] for r in rows if r["family"]}
        shown = {f["family"] for f in document["families"] if f["busy_ns"] > 0} - {"Idle"}
        self.assertLessEqual(shown, families)

    def test_what_cannot_be_exported_is_told(self):
        for args, code, words in (
                (["--format", "pprof", "-o", self.dir / "x"], 2, "--format"),
                (["-o", self.dir / "x"], 2, "--format"),
                (["--format", "csv"], 2, "--output"),
                (["--format", "csv", "-o", self.dir / "x", "--run", "fp9"], 1, "no run is named 'fp9'"),
                (["--format", "csv", "-o", self.dir / "none" / "x"], 1, "cannot be written"),
                (["--format", "csv", "-o", self.trace], 1, "is the file that is read")):
            result = fp8scope("export", self.trace, *args)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(words, result.stderr)
        self.assertFalse((self.dir / "x").exists())


class WrongInput(Fixture):
    def refuse(self, code, *args):
        result = fp8scope(*args)
        self.assertEqual(result.returncode, code, (args, result.stdout, result.stderr))
        self.assertNotIn("terminate", result.stderr)
        self.assertTrue(result.stderr.strip(), "an error says something")
        return result.stderr

    def config(self, text):
        path = self.dir / "wrong.toml"
        path.write_text(text)
        return path

    def test_wrong_key_names_file_line_and_the_nearest(self):
        path = self.config('widths = [64, 64]\nactivaton = "relu"\n')
        error = self.refuse(2, "run", "--config", path, "-o", self.dir / "x.fp8trace")
        self.assertIn(f"{path}:2", error)
        self.assertIn("activation", error)

    def test_wrong_type_and_range(self):
        for text, word in (('widths = "wide"\n', "widths"), ("widths = [64, -3]\n", "widths"), ("batch = 0\n", "batch"),
                           ("steps = 1.5\n", "steps"), ("[recipe]\nkind = 'tensorwide'\n", "tensorwise"),
                           ("widths = [64,\n", "")):
            error = self.refuse(2, "run", "--config", self.config(text), "-o", self.dir / "x.fp8trace")
            self.assertIn("wrong.toml", error)
            self.assertIn(word, error)

    def test_unknown_preset_option_command_and_run(self):
        self.assertIn("demo", self.refuse(2, "run", "--preset", "demmo", "-o", self.dir / "x.fp8trace"))
        self.refuse(2, "run", *SMALL)
        self.refuse(2, "run", "--frobnicate")
        self.refuse(2, "frobnicate")
        self.refuse(2)
        self.assertIn("fp8-fused", self.refuse(1, "breakdown", self.trace, "--run", "fp16"))

    def test_an_existing_file_is_not_overwritten(self):
        before = self.trace.stat().st_size
        self.assertIn("--force", self.refuse(1, "run", *SMALL, "-o", self.trace))
        self.assertEqual(self.trace.stat().st_size, before)

    def test_too_large_a_plan_is_refused_with_the_bytes(self):
        error = self.refuse(1, "run", "--widths", "262144,262144,262144", "--batch", "65536", "-o", self.dir / "x.fp8trace")
        self.assertRegex(error, r"[0-9.]+ [GT]i?B")
        self.assertFalse((self.dir / "x.fp8trace").exists())

    def test_files_that_are_no_trace(self):
        missing = self.dir / "missing.fp8trace"
        text = self.dir / "text.fp8trace"
        text.write_text("hello, I am not a trace")
        empty = self.dir / "empty.fp8trace"
        empty.touch()
        other = self.dir / "other.sqlite"
        with sqlite3.connect(other) as db:
            db.execute("create table t(x)")
        cut = self.dir / "cut.fp8trace"
        cut.write_bytes(self.trace.read_bytes()[: self.trace.stat().st_size // 3])
        newer = self.dir / "newer.fp8trace"
        newer.write_bytes(self.trace.read_bytes())
        with sqlite3.connect(newer) as db:
            db.execute("pragma user_version = 999")
        for path in (missing, text, empty, other, cut, newer, self.dir):
            error = self.refuse(1, "info", path)
            self.assertIn(path.name, error)
            self.assertEqual(len(error.strip().splitlines()), 1, error)
        self.assertIn("999", self.refuse(1, "info", newer))

    def test_sql_errors_are_one_sentence(self):
        self.assertIn("nonsense", self.refuse(1, "query", self.trace, "select nonsense from slice"))


class EndsEarly(Fixture):
    LONG = ["--widths", "256,256,256", "--batch", "256", "--steps", "5000", "--warmup", "1", "--modes", "bf16,fp8"]

    def start(self, path):
        process = subprocess.Popen([str(PROGRAM), "run", *self.LONG, "-o", str(path), "--progress", "json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            if json.loads(line).get("step", 0) >= 3:
                return process
        self.fail("the run ended before step 3: " + process.stderr.read())

    def finish(self, process):
        out, err = process.communicate(timeout=60)
        return process.returncode, err

    def steps_in(self, path):
        return self.ask_json("info", path)["runs"][0]["steps"]

    def test_ctrl_c_keeps_what_was_recorded(self):
        path = self.dir / "interrupted.fp8trace"
        process = self.start(path)
        process.send_signal(signal.SIGINT)
        code, err = self.finish(process)
        self.assertEqual(code, 3, err)
        self.assertGreaterEqual(self.steps_in(path), 3)
        self.assertFalse(self.ask_json("info", path)["runs"][0]["complete"])

    def test_a_killed_engine_leaves_its_finished_steps(self):
        path = self.dir / "killed.fp8trace"
        process = self.start(path)
        children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        self.assertTrue(children)
        os.kill(int(children[0]), signal.SIGKILL)
        code, err = self.finish(process)
        self.assertEqual(code, 3, err)
        self.assertIn("killed", err)
        self.assertGreaterEqual(self.steps_in(path), 3)

    def test_a_killed_recorder_leaves_a_readable_trace(self):
        path = self.dir / "dead.fp8trace"
        process = self.start(path)
        time.sleep(0.5)
        process.kill()
        self.finish(process)
        self.assertGreaterEqual(self.steps_in(path), 1)
        self.assertFalse(self.ask_json("info", path)["complete"])

    def test_a_second_run_on_the_same_file_is_refused(self):
        path = self.dir / "shared.fp8trace"
        process = self.start(path)
        second = fp8scope("run", *SMALL, "--force", "-o", path)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertEqual(second.returncode, 1, second.stdout)
        self.assertIn(path.name, second.stderr)


if __name__ == "__main__":
    unittest.main()
