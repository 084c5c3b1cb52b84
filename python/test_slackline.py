"""Tests of the package with the standard library only: python3 -m unittest, in this folder, with SLACKLINE set to the program."""

import importlib.util
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from types import ModuleType
from unittest import mock

import slackline
import wheel

ROOT = Path(__file__).resolve().parent.parent
TRACE = ROOT / "testdata/traces/late-sender.trace"


class Verbs(unittest.TestCase):
    def test_sums_are_those_of_the_document(self):
        rows = slackline.waits(TRACE, backend="rows")
        totals = slackline.document("waits", TRACE)["totals"]
        self.assertAlmostEqual(sum(r["seconds"] for r in rows if r["kind"] == "wait"), totals["waiting_s"], delta=1e-12)
        self.assertEqual(rows.columns[:4], ["kind", "metric", "rank", "callpath"])
        self.assertIsNone(rows[0]["short_s"])

    def test_verbs(self):
        self.assertEqual(slackline.simulate("dissemination", ranks=4, machine="chic", backend="rows").column("rank"), [0, 1, 2, 3])
        self.assertIn("slope_after", slackline.tolerance("dissemination", ranks=4, machine="chic", backend="rows").columns)
        self.assertEqual(slackline.profile(TRACE, backend="rows")[0]["callpath"], "main")
        self.assertIn("kind", slackline.advise(TRACE, backend="rows").columns)
        folder = ROOT / "testdata/scaling/check"
        self.assertEqual(slackline.scaling(folder / "pass-linear.json", metric="time", backend="rows")[0]["lead"], "O(p)")
        verdicts = slackline.check(folder / "fail-linear-for-log.yaml", folder / "fail-linear-for-log.json", backend="rows")
        self.assertIn("fail", verdicts.column("verdict"))  # exit code 3 is a result

    def test_errors(self):
        with self.assertRaises(slackline.SlacklineError) as caught:
            slackline.waits("no such trace")
        self.assertEqual(caught.exception.code, 1)
        self.assertIn("no such trace", str(caught.exception))
        with self.assertRaises(slackline.SlacklineError) as caught:
            slackline.simulate("dissemination", no_such_flag=1)
        self.assertEqual(caught.exception.code, 2)
        with mock.patch.dict(os.environ, {"SLACKLINE": "", "PATH": ""}), self.assertRaises(slackline.SlacklineError):
            slackline.program()

    def test_flags(self):
        self.assertEqual(
            slackline._flags({"only_path": "a b", "L": "1us", "quiet": True, "partial": False, "out": None, "set": ["p=1", "n=2"], "dir": Path("x")}),
            ["--only-path", "a b", "-L", "1us", "--quiet", "--set", "p=1", "--set", "n=2", "--dir", "x"],
        )

    def test_types(self):
        names, columns = slackline._parse('a,b,c,d\n1,1.5,true,"x,y"\n,2,,\n')
        self.assertEqual((names, columns), (["a", "b", "c", "d"], [[1, None], [1.5, 2.0], [True, None], ["x,y", ""]]))

    def test_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = slackline.tables(TRACE, Path(folder) / "tables")
            self.assertIn("wait_states", paths)
            self.assertTrue(paths["calls"].read_bytes().startswith(b"PAR1"))
            paths = slackline.tables(TRACE, Path(folder) / "arrow", to="arrow")
            self.assertTrue(paths["calls"].read_bytes().startswith(b"ARROW1"))

    def test_frames(self):
        """Each library gets the columns by name; those that are installed make a frame."""
        for name, maker in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
            fake = ModuleType(name)
            setattr(fake, maker, lambda data: data)
            with mock.patch.dict(sys.modules, {name: fake}):
                self.assertEqual(slackline._make(["a"], [[1, 2]], name), {"a": [1, 2]})
            try:
                __import__(name)
            except ImportError:
                continue
            self.assertEqual(slackline.simulate("dissemination", ranks=4, machine="chic", backend=name).shape, (4, 2))
        with self.assertRaises(ValueError):
            slackline._make([], [], "excel")


class Notebook(unittest.TestCase):
    def test_cells(self):
        notebook = json.loads((Path(__file__).parent / "examples.ipynb").read_text())
        cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
        self.assertGreater(len(cells), 5)
        names, before = {}, os.getcwd()
        os.chdir(ROOT)
        try:
            for cell in cells:
                exec(compile(cell, "examples.ipynb", "exec"), names)
        finally:
            os.chdir(before)


class Wheel(unittest.TestCase):
    def test_versions(self):
        for git, python in (("v1.2", "1.2"), ("v1.2-3-g0123abc-dirty", "1.2.post3+g0123abc.dirty"), ("0123abc", "0.0.0+0123abc")):
            self.assertEqual(wheel.normal(git), python)

    def test_install(self):
        """A wheel has the program, and pip installs it without a network into an environment of its own."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            program.write_text('#!/bin/sh\necho "$0: $@"\n')
            path = wheel.build(program, "linux/amd64", "v1.2", folder)
            again = wheel.build(program, "linux/amd64", "v1.2", folder).read_bytes()
            self.assertEqual(path.read_bytes(), again)
            with zipfile.ZipFile(path) as z:
                self.assertIsNone(z.testzip())
                self.assertTrue(z.getinfo("slackline/bin/slackline").external_attr >> 16 & stat.S_IXUSR)
            target = Path(folder) / "installed"
            if importlib.util.find_spec("pip") is None:  # then as pip would
                zipfile.ZipFile(path).extractall(target)
                (target / "slackline/bin/slackline").chmod(0o755)
            else:
                subprocess.run(
                    [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", "--target", target, path],
                    check=True, capture_output=True,
                )
            environment = {**os.environ, "PYTHONPATH": str(target), "SLACKLINE": ""}
            out = subprocess.run([sys.executable, "-m", "slackline", "waits", "x y"], env=environment, check=True, capture_output=True, text=True, cwd=folder)
            self.assertRegex(out.stdout, "waits x y\n$")


if __name__ == "__main__":
    unittest.main()
