# SPDX-License-Identifier: Apache-2.0
"""Prediction as a user meets it: single layers, maps, whole runs as traces, devices of one's own, wrong input."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1))
PROGRAM = BIN / "fp8scope"
COLUMNS = "m,n,k,recipe,bf16_gemm_us,fp8_gemm_us,quantize_us,bf16_us,fp8_us,speedup,verdict"


class Predict(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fp8scope-predict-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def run_program(self, *args):
        environment = dict(os.environ, XDG_CONFIG_HOME=str(self.dir))  # no profiles of the machine's user
        return subprocess.run([str(PROGRAM), *map(str, args)], capture_output=True, text=True, timeout=120, env=environment)

    def ask(self, *args):
        result = self.run_program(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refuse(self, code, *args):
        result = self.run_program(*args)
        self.assertEqual(result.returncode, code, result.stdout)
        return result.stderr

    def rows(self, *args):
        return list(csv.DictReader(io.StringIO(self.ask("predict", *args, "--format", "csv"))))

    def test_csv_of_a_file_keeps_its_columns_and_order(self):
        shapes = self.dir / "shapes.csv"
        shapes.write_text("name,k,n,m\na,4096,14336,8192\nb,512,128,1024\n")
        text = self.ask("predict", "--device", "h100-sxm", "--shapes", shapes, "--format", "csv")
        self.assertEqual(text.splitlines()[0], COLUMNS)
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(r["m"], r["n"], r["k"]) for r in rows], [("8192", "14336", "4096"), ("1024", "128", "512")])
        for r in rows:
            self.assertAlmostEqual(float(r["fp8_us"]), float(r["fp8_gemm_us"]) + float(r["quantize_us"]), delta=0.01 * float(r["fp8_us"]))
            self.assertAlmostEqual(float(r["speedup"]), float(r["bf16_us"]) / float(r["fp8_us"]), delta=0.01)

    def test_shapes_on_the_command_line_are_tokens_inputs_outputs(self):
        row = self.rows("--shapes", "8192,4096,14336")[0]
        self.assertEqual((row["m"], row["k"], row["n"]), ("8192", "4096", "14336"))

    def test_large_layers_are_worth_it_and_narrow_ones_are_not(self):
        verdicts = [r["verdict"] for r in self.rows("--shapes", "16384,8192,8192", "4096,8192,128")]
        self.assertEqual(verdicts, ["worth it", "not worth it"])

    def test_every_recipe_of_a_device(self):
        recipes = [r["recipe"] for r in self.rows("--device", "b200-sxm", "--shapes", "8192,8192,8192", "--recipe", "all")]
        self.assertEqual(recipes, ["tensorwise", "delayed", "rowwise", "blockwise", "mxfp8"])

    def test_a_device_without_fp8_still_tells_bf16(self):
        row = self.rows("--device", "a100-sxm", "--shapes", "8192,8192,8192")[0]
        self.assertEqual((row["fp8_us"], row["verdict"]), ("", "no fp8 on this device"))
        self.assertGreater(float(row["bf16_us"]), 3500)

    def test_three_gemms_cost_more_than_one(self):
        forward, training = (float(self.rows("--shapes", "8192,8192,8192", "--pass", p)[0]["bf16_us"]) for p in ("forward", "training"))
        self.assertAlmostEqual(training / forward, 3, delta=0.3)

    def test_sweep_gives_every_shape(self):
        rows = self.rows("--sweep", "M=1024:4096", "K=1024:2048:512", "N=4096")
        self.assertEqual([(r["m"], r["k"]) for r in rows][:4], [("1024", "1024"), ("1024", "1536"), ("1024", "2048"), ("2048", "1024")])
        self.assertEqual(len(rows), 9)

    def test_a_run_is_a_trace_that_says_it_is_predicted(self):
        trace = self.dir / "predicted.fp8trace"
        document = json.loads(self.ask("predict", "--device", "h100-sxm", "--widths", "4096,8192,4096", "--batch", "8192",
                                       "-o", trace, "--format", "json"))
        self.assertEqual([r["mode"] for r in document["runs"]], ["bf16", "fp8", "fp8-fused"])
        self.assertEqual({r["origin"] for r in document["runs"]}, {"predicted"})
        bf16, fp8, fused = (r["step_ns"] for r in document["runs"])
        self.assertLess(fused, bf16)
        self.assertLess(fused, fp8)
        breakdown = json.loads(self.ask("breakdown", trace, "--format", "json"))
        for run, predicted in zip(breakdown["runs"], document["runs"]):
            self.assertEqual(run["origin"], "predicted")
            self.assertEqual(run["step_ns"], predicted["step_ns"])
            self.assertEqual(sum(f["exposed_ns"] for f in run["families"]), run["step_ns"])
        self.assertIn("predicted", self.ask("compare", trace))
        self.assertIn("predicted", self.ask("info", trace))
        self.assertIn("exists", self.refuse(1, "predict", "--widths", "64,64", "-o", trace))

    def test_op_by_op_submission_makes_small_steps_wait_for_the_host(self):
        def step(host):
            out = self.ask("predict", "--widths", "256,256", "--batch", "256", "--modes", "fp8", "--host", host, "--format", "json")
            return json.loads(out)["runs"][0]
        self.assertGreater(step("eager")["step_ns"], 2 * step("graph")["step_ns"])
        self.assertEqual(step("eager")["ops"][5]["bound"], "host")

    def test_devices_of_ones_own(self):
        mine = self.dir / "mine.toml"
        mine.write_text('[[device]]\nid = "mine"\ncompute_capability = 90\nsms = 132\nboost_mhz = 1830\nbf16_tflops = 989\n'
                        'fp8_tflops = 1979\nmemory_gbs = 3350\nl2_mb = 50\nconstants_from = "h100-sxm"\n')
        same = [self.rows("--device", d, "--device-file", mine, "--shapes", "4096,4096,4096")[0]["bf16_us"] for d in ("mine", "h100-sxm")]
        self.assertEqual(same[0], same[1])
        self.assertIn("mine", self.ask("devices", "--device-file", mine))

    def test_devices_tell_errors_and_what_is_not_verified(self):
        document = json.loads(self.ask("devices", "--format", "json"))
        h100 = next(d for d in document["devices"] if d["id"] == "h100-sxm")
        self.assertLess(next(e["median"] for e in h100["errors"] if e["what"] == "bf16" and e["size"] == "all"), 0.06)
        self.assertIn("power_w", next(d for d in document["devices"] if d["id"] == "h100-pcie")["unverified"])

    def test_wrong_input_is_one_sentence(self):
        self.assertIn("did you mean 'h100-sxm'", self.refuse(1, "predict", "--device", "h100-sx", "--shapes", "1,2,3"))
        self.assertIn("did you mean 'rowwise'", self.refuse(1, "predict", "--shapes", "1,2,3", "--recipe", "rowise"))
        self.assertIn("is no shape", self.refuse(1, "predict", "--shapes", "1,2"))
        self.assertIn("0", self.refuse(1, "predict", "--shapes", "0,2,3"))
        self.assertIn("needs --shapes", self.refuse(2, "predict"))
        self.assertIn("has no mxfp8", self.refuse(1, "predict", "--shapes", "1,2,3", "--recipe", "mxfp8"))
        bad = self.dir / "bad.csv"
        bad.write_text("m,n\n1,2\n")
        self.assertIn("bad.csv:1: there is no column 'k'", self.refuse(1, "predict", "--shapes", bad))
        bad.write_text("m,n,k\n1,2,3\n4,x,6\n")
        self.assertIn("bad.csv:3: 'x'", self.refuse(1, "predict", "--shapes", bad))


if __name__ == "__main__":
    unittest.main()
