# SPDX-License-Identifier: Apache-2.0
"""Kernel names on standard input, a user's own rules, and the check of a rule file, as a user meets them."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)) / "fp8scope"
NAMES = "nvjet_qqtst_128x128_128x6_1x2_h_bz_bias_TNT\nmy_moe::route_tokens(int)\nncclDevKernel_AllGather_RING_LL\n"
OWN = "[[rule]]\nid = \"own-route\"\nfunction = '^my_moe::'\nrole = \"comm\"\nlibrary = \"mine\"\n"


class Classify(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fp8scope-classify-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.environment = {**os.environ, "XDG_CONFIG_HOME": str(self.dir)}

    def run_program(self, *args, names=""):
        return subprocess.run([str(PROGRAM), *map(str, args)], input=names, capture_output=True, text=True, timeout=120,
                              env=self.environment)

    def kernels(self, *args, names=NAMES):
        result = self.run_program("classify", *args, names=names)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["kernels"]

    def test_json_is_the_default_and_the_contract(self):
        gemm, _, gather = self.kernels()
        self.assertEqual({k: gemm[k] for k in ("role", "fused", "precision", "library", "rule")},
                         {"role": "gemm", "fused": ["bias"], "precision": "fp8", "library": "cuBLAS", "rule": "nvjet"})
        self.assertEqual(gemm["name"], NAMES.splitlines()[0])
        self.assertEqual(gather["role"], "comm")
        self.assertEqual(self.kernels("--format", "json"), self.kernels())

    def test_a_table_for_people_on_request(self):
        result = self.run_program("classify", "--format", "table", names=NAMES)
        self.assertIn("nvjet", result.stdout)
        self.assertNotIn("{", result.stdout)

    def test_own_rules_come_first_from_a_file_or_the_usual_place(self):
        self.assertNotEqual(self.kernels()[1]["rule"], "own-route")
        own = self.dir / "own.toml"
        own.write_text(OWN)
        self.assertEqual(self.kernels("--rules", own)[1]["rule"], "own-route")
        (self.dir / "fp8scope").mkdir()
        (self.dir / "fp8scope" / "kernel_rules.toml").write_text(OWN)
        self.assertEqual(self.kernels()[1]["library"], "mine")

    def test_errors_of_a_rule_file_name_the_line(self):
        own = self.dir / "own.toml"
        own.write_text(OWN + "[[rule]]\nid = \"b\"\nfunction = '('\nrole = \"gemm\"\n")
        for command in ("check-rules", own), ("classify", "--rules", own):
            result = self.run_program(*command, names=NAMES)
            self.assertEqual(result.returncode, 1)
            self.assertIn("own.toml:8:", result.stderr)
        self.assertIn("cannot be read", self.run_program("check-rules", self.dir / "none.toml").stderr)

    def test_check_rules_finds_the_shadowed_and_the_unmatched(self):
        own = self.dir / "own.toml"
        own.write_text("[[rule]]\nid = \"a\"\nfunction = '^nvjet'\nrole = \"gemm\"\n"
                       "[[rule]]\nid = \"b\"\nfunction = '^nvjet_tst'\nrole = \"gemm\"\n"
                       "[[rule]]\nid = \"c\"\nfunction = '^no_such$'\nrole = \"gemm\"\n")
        result = self.run_program("check-rules", own, "--format", "json")
        self.assertEqual(result.returncode, 1)
        self.assertEqual([r["state"] for r in json.loads(result.stdout)["rules"]], ["ok", "shadowed", "unmatched"])

    def test_a_hundred_thousand_names_take_seconds(self):
        names = "".join(f"void at::native::vectorized_elementwise_kernel<{i}, at::native::AddFunctor<float>, "
                        f"std::array<char*, 2ul> >(int, at::native::AddFunctor<float>)\n" for i in range(100_000))
        self.assertEqual(len(self.kernels(names=names)), 100_000)  # some 5 s here; the time limit is 120 s


if __name__ == "__main__":
    unittest.main()
