"""Runs the program for a test, and makes small models."""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = None


def sardonyx(*arguments, stdin=None, expect=0, env=None):
    """-> standard output; fails unless the exit status is `expect`"""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, input=stdin, timeout=120, env=env)
    if done.returncode != expect:
        raise AssertionError(f"{arguments} ended with {done.returncode}, not {expect}:\n{done.stdout}\n{done.stderr}")
    return done.stdout if expect in (0, 1) else done.stderr


class Folder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)

    def tearDown(self):
        self._folder.cleanup()

    def save(self, nodes, inputs, outputs, initializers=(), name="model.onnx", opset=17):
        """-> path of a model; inputs and outputs are (name, TensorProto type, shape) or whole ValueInfoProtos"""
        ports = lambda items: [i if isinstance(i, onnx.ValueInfoProto) else helper.make_tensor_value_info(*i) for i in items]
        graph = helper.make_graph(nodes, "g", ports(inputs), ports(outputs), list(initializers))
        opsets = [helper.make_opsetid("", opset)]
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8 if opset < 21 else 11).SerializeToString())
        return path

    def identity(self, element_type=TensorProto.FLOAT, shape=("n",), opset=17):
        return self.save([helper.make_node("Identity", ["x"], ["y"])], [("x", element_type, shape)], [("y", element_type, shape)], opset=opset)


def main():
    global PROGRAM
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    options, rest = parser.parse_known_args()
    PROGRAM = options.program
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])
