# SPDX-License-Identifier: Apache-2.0
"""`fp8scope collect` from end to end, on a stand-in driver and a scripted CUPTI: every record arrives once, and the program
is never harmed."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

BIN = pathlib.Path(sys.argv.pop(1))
FP8SCOPE = BIN / "fp8scope"
STAND_IN = BIN.parent / "stand_in"
PROGRAM = STAND_IN / "stand_in_program"
CUPTI = STAND_IN / "libcupti.so.13"


def kernel_ns(launches):
    """What stand_in_program's kernels take together, by its formula."""
    return sum(500 + i % 7 * 10 for i in range(launches))


class CollectTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.trace = self.folder / "out.fp8trace"
        self.addCleanup(shutil.rmtree, self.folder)

    def collect(self, *program, options=(), environment=None, check=0):
        """Runs stand_in_program under collect; returns what collect said on standard error."""
        done = subprocess.run([FP8SCOPE, "collect", "-o", self.trace, *options, "--", PROGRAM, *program],
                              capture_output=True, text=True, timeout=100, env={**os.environ, **(environment or {})})
        if check is not None:
            self.assertEqual(done.returncode, check, done.stderr)
        return done.stderr

    def query(self, sql):
        done = subprocess.run([FP8SCOPE, "query", self.trace, sql, "--format", "json"], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def kernels(self):
        """Count and summed duration of the kernels in the trace."""
        rows = self.query("SELECT count(*), coalesce(sum(dur_ns), 0) FROM slice WHERE kind = 'kernel'")
        return tuple(rows[0])

    def diagnostics(self):
        return dict((row[0], row[1]) for row in self.query("SELECT name, sum(count) FROM diagnostic GROUP BY name"))


class Records(CollectTest):
    def test_every_kernel_arrives_once_with_its_launch(self):
        said = self.collect("--launches", "1000", "--threads", "8")
        self.assertEqual(self.kernels(), (8000, 8 * kernel_ns(1000)))
        self.assertEqual(self.query("SELECT count(DISTINCT correlation) FROM slice WHERE kind = 'api'"), [[8000]])
        unlaunched = self.query("SELECT count(*) FROM slice WHERE kind = 'kernel' AND correlation NOT IN "
                                "(SELECT correlation FROM slice WHERE kind = 'api')")
        self.assertEqual(unlaunched, [[0]])
        self.assertIn("8000 device operations and 8000 host records of 1 process", said)
        self.assertEqual(self.diagnostics(), {})

    def test_names_are_demangled_and_tracks_tell_stream_and_thread(self):
        self.collect("--launches", "20", "--threads", "2", "--names", "3")
        self.assertEqual(self.query("SELECT text FROM name WHERE kind = 'kernel' ORDER BY text"),
                         [["kernel0()"], ["kernel1()"], ["kernel2()"]])
        self.assertEqual(self.query("SELECT text FROM name WHERE kind = 'api'"), [["cudaLaunchKernel"]])
        queues = [row[0] for row in self.query("SELECT name FROM track WHERE kind = 'device_queue' ORDER BY name")]
        self.assertEqual(queues, ["GPU 0 stream 7", "GPU 0 stream 8"])
        self.assertEqual(self.query("SELECT name, arch, units FROM device"), [["Stand-in GPU", "sm_90", 132]])

    def test_the_run_says_that_it_was_measured_on_a_gpu(self):
        self.collect()
        self.assertEqual(self.query("SELECT origin, complete FROM run"), [["measured-gpu", 1]])

    def test_copies_ranges_and_graphs(self):
        self.collect("--launches", "1", "--copies", "--ranges", "--graph", options=["--graphs", "as-one"])
        names = dict(self.query("SELECT text, kind FROM name"))
        self.assertEqual(names["Memcpy HtoD (Pinned -> Device)"], "memcpy")
        self.assertEqual(names["Memset (Device)"], "memset")
        self.assertEqual(names["Stream synchronize"], "sync")
        self.assertEqual(names["CUDA graph 5"], "graph")
        self.assertEqual(names["step 1"], "range")
        self.assertEqual(self.query("SELECT bytes, dur_ns FROM slice WHERE kind = 'memcpy'"),
                         [[1 << 20, 4000]])
        self.assertEqual(self.query("SELECT dur_ns FROM slice WHERE name = 'step 1'"), [[9000]])
        self.assertEqual(self.diagnostics(), {"nvtx_ranges_left_open": 1})

    def test_what_cupti_lost_is_counted_and_not_shown(self):
        said = self.collect("--launches", "10", "--oddities")
        self.assertEqual(self.diagnostics(),
                         {"records_without_times": 1, "records_incomplete": 1, "records_backwards": 1})
        self.assertEqual(self.kernels()[0], 12)
        self.assertIn("1 device records had no times", said)

    def test_names_of_five_thousand_characters(self):
        self.collect("--launches", "30", "--names", "3", "--name-bytes", "5000")
        self.assertEqual(self.query("SELECT count(*), min(length(text)) FROM name WHERE kind = 'kernel'"), [[3, 5009]])

    def test_kinds_that_were_not_asked_for_are_not_recorded(self):
        self.collect("--launches", "10", "--copies", options=["--kinds", "kernel"])
        self.assertEqual(self.query("SELECT DISTINCT kind FROM name"), [["kernel"]])

    def test_records_of_every_cupti_version_from_12_0(self):
        for version in ("19", "22", "27", "28", "130000", "130100"):
            with self.subTest(version=version):
                self.collect("--launches", "50", "--copies", options=["--force"],
                             environment={"SCRIPTED_CUPTI_VERSION": version})
                self.assertEqual(self.kernels(), (50, kernel_ns(50)))


class Endings(CollectTest):
    def test_exit_codes_are_the_programs(self):
        self.collect("--exit-code", "7", check=7)
        self.assertEqual(self.kernels()[0], 100)

    def test_what_was_flushed_survives_every_ending(self):
        for end, code in (("_exit", 3), ("abort", 128 + signal.SIGABRT), ("kill", 128 + signal.SIGKILL)):
            with self.subTest(end=end):
                self.collect("--launches", "500", "--wait-ms", "700", "--end", end, "--exit-code", "3",
                             options=["--force"], check=code)
                self.assertEqual(self.kernels(), (500, kernel_ns(500)))
                self.assertEqual(self.query("SELECT complete FROM run"), [[0]])

    def test_a_context_that_ends_is_flushed_at_once(self):
        self.collect("--context-end", "--wait-ms", "100", "--end", "kill", check=128 + signal.SIGKILL)
        self.assertEqual(self.kernels()[0], 100)

    def test_a_fork_without_exec_leaves_the_parents_records_alone(self):
        self.collect("--launches", "300", "--fork", "plain")
        self.assertEqual(self.kernels(), (300, kernel_ns(300)))

    def test_children_are_followed_into_the_same_file(self):
        self.collect("--launches", "10", "--children", "40")
        self.assertEqual(self.kernels()[0], 41 * 10)
        self.assertEqual(self.query("SELECT count(*) FROM run"), [[41]])
        self.assertEqual(self.query("SELECT count(DISTINCT pid) FROM process"), [[41]])

    def test_a_program_that_closes_all_descriptors_runs_on(self):
        self.collect("--close-descriptors", "--change-folder", "--exit-code", "4", check=4)

    def test_a_signal_to_collect_reaches_the_program(self):
        process = subprocess.Popen([FP8SCOPE, "collect", "-o", self.trace, "--", PROGRAM, "--wait-ms", "60000"],
                                   stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 20
        while not self.trace.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 128 + signal.SIGTERM)
        process.stderr.close()
        self.assertEqual(self.kernels()[0], 100)

    def test_a_killed_recorder_does_not_disturb_the_program(self):
        done_file = self.folder / "done"
        process = subprocess.Popen([FP8SCOPE, "collect", "-o", self.trace, "--", "sh", "-c",
                                    f"{PROGRAM} --wait-ms 1500; echo $? > {done_file}"], stderr=subprocess.DEVNULL)
        time.sleep(1)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 20
        while not done_file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(done_file.read_text().strip(), "0")
        self.assertEqual(self.kernels()[0], 100)


class Ranges(CollectTest):
    def test_only_what_is_between_profiler_start_and_stop(self):
        self.collect("--launches", "200", "--profiler-range", options=["--range", "cuda-profiler"])
        self.assertEqual(self.kernels(), (200, kernel_ns(200)))

    def test_a_delay_longer_than_the_program_records_nothing(self):
        self.collect(options=["--delay", "60s"])
        self.assertEqual(self.query("SELECT count(*) FROM run"), [[0]])

    def test_a_duration_ends_the_recording_and_not_the_program(self):
        self.collect("--launches", "2000", "--per-second", "1000", "--exit-code", "5", options=["--duration", "500ms"], check=5)
        self.assertGreater(self.kernels()[0], 0)
        self.assertLess(self.kernels()[0], 1800)


    def ctl(self, *arguments):
        done = subprocess.run([FP8SCOPE, "ctl", *arguments], capture_output=True, text=True, timeout=20)
        return done.returncode, done.stdout.strip() + done.stderr.strip()

    def test_ctl_starts_marks_and_stops_a_paused_recording(self):
        process = subprocess.Popen([FP8SCOPE, "collect", "--paused", "-o", self.trace, "--", PROGRAM, "--launches", "4000",
                                    "--per-second", "1000"], stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(self.folder)})
        own = {"TMPDIR": str(self.folder), "XDG_RUNTIME_DIR": ""}
        self.addCleanup(process.kill)
        with unittest.mock.patch.dict(os.environ, own):
            deadline = time.monotonic() + 20
            while self.ctl("--pid", str(process.pid), "status")[0] != 0 and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(self.ctl("--pid", str(process.pid), "mark", "early")[1],
                             "no process has been recorded yet, so there is no timeline to mark")
            self.assertEqual(self.ctl("--pid", str(process.pid), "start"), (0, "recording"))
            time.sleep(1)
            self.assertEqual(self.ctl("--pid", str(process.pid), "mark", "half time"), (0, "marked"))
            self.assertEqual(self.ctl("--pid", str(process.pid), "stop"), (0, "paused"))
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertGreater(self.kernels()[0], 100)
        self.assertLess(self.kernels()[0], 3900)
        self.assertEqual(self.query("SELECT text FROM name WHERE kind = 'range'"), [["half time"]])

    def test_ctl_without_a_recording_says_so(self):
        code, said = self.ctl("--pid", "1", "status")
        self.assertEqual(code, 1)
        self.assertIn("recording", said)


class Refusals(CollectTest):
    def test_another_profiler_is_named(self):
        said = self.collect("--exit-code", "6", check=6, environment={"SCRIPTED_CUPTI_FAIL": "cuptiSubscribe=39",
                                                                      "SCRIPTED_CUPTI_HOLDER": "CUPTI for Kineto"})
        self.assertIn("another profiler (CUPTI for Kineto) holds CUPTI in this process, so nothing was recorded", said)

    def test_a_cupti_that_fails_is_reported_and_the_program_runs(self):
        said = self.collect("--exit-code", "6", check=6, environment={"SCRIPTED_CUPTI_FAIL": "cuptiSubscribe=15"})
        self.assertIn("CUPTI_ERROR_NOT_INITIALIZED (15)", said)

    def test_a_program_without_cuda_is_told_apart(self):
        done = subprocess.run([FP8SCOPE, "collect", "-o", self.trace, "--", "true"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("no process of the command initialised CUDA", done.stderr)

    def test_wrong_arguments(self):
        for arguments, word in ((["--kinds", "kernel,tea", "--", "true"], "'kernel,tea' is not a list of kernel"),
                                (["--delay", "soon", "--", "true"], "'soon' is not a time"),
                                (["-o", "a%z", "--", "true"], "means nothing in an output name"),
                                ([], "no command is given"),
                                (["-o", str(self.trace), "--", "no-such-program-here"], "cannot be started")):
            with self.subTest(arguments=arguments):
                done = subprocess.run([FP8SCOPE, "collect", *arguments], capture_output=True, text=True, timeout=60,
                                      cwd=self.folder)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(word, done.stderr)

    def test_an_existing_file_is_not_overwritten(self):
        self.trace.write_text("mine")
        self.assertIn("exists", self.collect(check=1))
        self.assertEqual(self.trace.read_text(), "mine")


class Library(unittest.TestCase):
    LIBRARY = BIN.parent / "lib" / "libfp8scope_inject.so"

    def test_it_exports_its_entry_points_and_nothing_else(self):
        out = subprocess.run(["nm", "-D", "--defined-only", self.LIBRARY], check=True, capture_output=True, text=True).stdout
        self.assertEqual(sorted(line.split()[-1] for line in out.splitlines()),
                         ["InitializeInjection", "InitializeInjectionNvtx2"])

    def test_it_needs_only_the_c_library(self):
        out = subprocess.run(["readelf", "-d", self.LIBRARY], check=True, capture_output=True, text=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", out))
        if any("san.so" in library for library in needed):
            self.skipTest("built with a sanitizer, which brings its own libraries")
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"})


if __name__ == "__main__":
    os.environ.setdefault("LD_LIBRARY_PATH", str(STAND_IN))
    unittest.main()
