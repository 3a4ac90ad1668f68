# SPDX-License-Identifier: Apache-2.0
"""The layers of the design hold: includes go down only, and the programs link what they may."""
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
BIN = pathlib.Path(sys.argv.pop(1))

# A part may include itself, the words, and these parts.
WORDS = {"collector/trace/words.h", "collector/trace/error.h", "collector/trace/ids.h"}
ALLOWED = {
    "collector/trace": set(),
    "engine/numerics": set(),
    "engine/plan": {"engine/numerics"},
    "engine/kernels": {"engine/numerics"},
    "engine/cpu": {"engine/kernels", "engine/plan", "engine/numerics"},
    "engine/predict": {"engine/plan", "engine/numerics"},
    "collector/import": {"collector/trace"},
    "collector/export": {"collector/trace"},
    "collector/wire": set(),
    "collector/recorder": {"collector/trace", "collector/wire"},
    "collector/inject": {"collector/wire"},
    "engine/worker": {"collector/wire", "engine/cpu", "engine/plan", "engine/numerics"},
    "app/analysis": {"collector/trace", "engine/plan"},
    "app/open": {"app/analysis", "collector/import", "collector/trace"},
    "app/session": {"collector/recorder", "collector/trace", "collector/wire", "engine/plan", "engine/predict",
                    "engine/worker"},
    "app/report": {"app/analysis", "collector/trace"},
    "app/cli": {"app/session", "app/open", "app/report", "app/analysis", "collector/export", "collector/import",
                "collector/recorder", "collector/trace", "collector/wire",
                "engine/plan", "engine/predict", "engine/worker", "engine/numerics"},
    "app/gui": {"app/open", "app/report", "app/analysis", "collector/trace"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:app|collector|engine|tests)/[^"]+)"', re.M)


def part_of(path):
    for part in ALLOWED:
        if path.startswith(part + "/"):
            return part
    return None


def sources():
    for top in ("app", "collector", "engine"):
        for path in (SOURCE / top).rglob("*"):
            if path.suffix in (".h", ".cpp", ".cu", ".cuh", ".inc"):
                yield path.relative_to(SOURCE).as_posix(), path.read_text()


class Layers(unittest.TestCase):
    def test_every_source_belongs_to_a_part(self):
        self.assertEqual([name for name, _ in sources() if part_of(name) is None], [])

    def test_includes_go_down_only(self):
        climbs = []
        for name, text in sources():
            part = part_of(name)
            for included in INCLUDE.findall(text):
                target = part_of(included)
                if target != part and included not in WORDS and target not in ALLOWED[part]:
                    climbs.append(f"{name} includes {included}")
        self.assertEqual(climbs, [])

    def test_only_the_app_knows_qt(self):
        users = [name for name, text in sources()
                 if not name.startswith("app/gui/") and re.search(r"#\s*include\s+<Q[A-Za-z]", text)]
        self.assertEqual(users, [])


def needed(program):
    out = subprocess.run(["readelf", "-d", str(program)], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", out)


class LinkClosure(unittest.TestCase):
    def test_the_command_needs_no_qt(self):
        self.assertFalse([lib for lib in needed(BIN / "fp8scope") if "Qt" in lib or "qcustomplot" in lib.lower()])

    def test_the_app_links_nothing_of_cuda_or_the_engine(self):
        gui = BIN / "fp8scope-gui"
        if not gui.exists():
            self.skipTest("built without the app")
        self.assertFalse([lib for lib in needed(gui) if re.search(r"cuda|cublas|cupti|nvrtc|dnnl", lib)])


if __name__ == "__main__":
    unittest.main()
