#!/usr/bin/env python3
"""run, inspect, explain and bench: files in every format, comparison, exit statuses, JSON."""
import json
import os

import numpy as np
import onnx
import program
from onnx import TensorProto, helper, numpy_helper
from program import Folder, sardonyx

DTYPES = ["float32", "float64", "float16", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


class Files(Folder):
    def through(self, array, source, target, model=None):
        """-> what Identity makes of the array, read from one file and written to another"""
        model = model or self.identity(helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)
        source, target = self.folder / source, self.folder / target
        if source.suffix == ".npy":
            np.save(source, array)
        elif source.suffix == ".npz":
            (np.savez_compressed if "compressed" in source.name else np.savez)(source, x=array)
        elif source.suffix == ".pb":
            source.write_bytes(numpy_helper.from_array(array).SerializeToString())
        else:
            source.write_text(json.dumps({"x": array.tolist()}))
        sardonyx("run", model, "--input", source, "--output", target)
        if target.suffix == ".npy":
            return np.load(target)
        if target.suffix == ".npz":
            return np.load(target)["y"]
        if target.suffix == ".pb":
            return numpy_helper.to_array(onnx.load_tensor(str(target)))
        item = json.loads(target.read_text())["y"]
        return np.array(item["data"]).reshape(item["shape"])

    def same(self, a, b):
        np.testing.assert_array_equal(a, b)
        self.assertEqual(a.shape, b.shape)

    def test_every_dtype(self):
        rng = np.random.default_rng(1)
        for dtype in DTYPES:
            array = (rng.standard_normal((2, 3)) * 50).astype(dtype)
            for source in ("a.npy", "a.npz", "compressed.npz", "a.pb", "a.json"):
                for target in ("b.npy", "b.npz", "b.pb"):
                    got = self.through(array, source, target)
                    self.assertEqual(got.dtype, array.dtype, (dtype, source, target))
                    self.same(got, array)

    def test_strings(self):
        array = np.array([["", "héllo"], ["日本", "🙂 x"]])
        model = self.identity(TensorProto.STRING, [None, None])
        for source in ("a.npy", "a.npz", "a.json"):
            for target in ("b.npy", "b.json"):
                self.same(self.through(array, source, target, model), array)

    def test_shapes_and_memory_orders(self):
        for array in (np.float32(1.5).reshape(()), np.zeros((0, 3), np.float32), np.arange(6, dtype=np.float32).reshape(2, 3).T,
                      np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4)), np.arange(3, dtype=">f4")):
            model = self.identity(TensorProto.FLOAT, [None] * array.ndim)
            self.same(self.through(array, "a.npy", "b.npy", model), array)

    def test_types_that_numpy_lacks(self):
        array = np.array([1.5, -2, 0.25], np.float32)
        self.same(self.through(array, "a.npy", "b.npy", self.identity(TensorProto.BFLOAT16)), array)
        sardonyx("run", self.identity(TensorProto.INT4, opset=21), "--input", self.write("i.npy", np.array([-8, 7], np.int8)))
        error = sardonyx("run", self.identity(TensorProto.INT4, opset=21), "--input", self.write("i.npy", np.array([8], np.int8)), expect=10)
        self.assertIn("int4", error)

    def write(self, name, array):
        np.save(self.folder / name, array)
        return self.folder / name

    def test_special_numbers_in_json(self):
        array = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32)
        target = self.folder / "b.json"
        sardonyx("run", self.identity(), "--input", self.write("a.npy", array), "--output", target)
        sardonyx("run", self.identity(), "--input", self.write("a.npy", array), "--expect", target)
        self.assertEqual(json.loads(target.read_text())["y"]["data"][:3], ["NaN", "Infinity", "-Infinity"])

    def test_hostile_files(self):
        model = self.identity()
        good = self.write("a.npy", np.arange(4, dtype=np.float32)).read_bytes()
        np.savez(self.folder / "a.npz", x=np.arange(4, dtype=np.float32))
        archive = (self.folder / "a.npz").read_bytes()
        for name, content in {"e.npy": b"", "t.npy": good[:-1], "m.npy": b"PK" + good, "l.npy": good.replace(b"(4,)", b"(9999999999,)"),
                              "o.npy": good.replace(b"<f4", b"|O "), "z.npz": archive[:-30], "c.npz": archive.replace(b"\x00\x00\x80?", b"\x00\x00\x80@"),
                              "j.json": b"[" * 100000, "k.json": b'{"x": [1, [2]]}', "u.json": b'{"z": 1}'}.items():
            (self.folder / name).write_bytes(content)
            self.assertIn("error", sardonyx("run", model, "--input", self.folder / name, expect=12 if name == "o.npy" else 10), name)


class Run(Folder):
    def add(self):
        shape = ["batch", "n"]
        return self.save([helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Mul", ["a", "b"], ["product"])],
                         [("a", TensorProto.FLOAT, shape), ("b", TensorProto.FLOAT, shape)],
                         [("sum", TensorProto.FLOAT, shape), ("product", TensorProto.FLOAT, shape)])

    def inputs(self):
        a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)
        np.savez(self.folder / "in.npz", a=a, b=b)
        np.save(self.folder / "a.npy", a)
        np.save(self.folder / "b.npy", b)
        return a, b

    def test_named_inputs_and_outputs(self):
        model, (a, b) = self.add(), self.inputs()
        sardonyx("run", model, "--input", f"b={self.folder}/b.npy", "--input", f"{self.folder}/a.npy",
                 "--output", f"sum={self.folder}/s.npy", "--output", f"product={self.folder}/p.pb")
        np.testing.assert_array_equal(np.load(self.folder / "s.npy"), a + b)
        np.testing.assert_array_equal(numpy_helper.to_array(onnx.load_tensor(str(self.folder / "p.pb"))), a * b)

    def test_json_output(self):
        model, (a, b) = self.add(), self.inputs()
        out = json.loads(sardonyx("run", model, "--input", self.folder / "in.npz", "--output-names", "product", "--json"))
        self.assertEqual(out, {"product": {"type": "float", "shape": [2, 3], "data": (a * b).ravel().tolist()}})

    def test_expect(self):
        model, (a, b) = self.add(), self.inputs()
        source = self.folder / "in.npz"
        np.savez(self.folder / "good.npz", sum=a + b, product=a * b)
        np.savez(self.folder / "near.npz", sum=(a + b) * 1.01)
        np.savez(self.folder / "shape.npz", sum=(a + b)[:1])
        np.savez(self.folder / "name.npz", total=a + b)
        sardonyx("run", model, "--input", source, "--expect", self.folder / "good.npz")
        sardonyx("run", model, "--input", source, "--expect", self.folder / "near.npz", expect=1)
        sardonyx("run", model, "--input", source, "--expect", self.folder / "near.npz", "--rtol", "0.02")
        sardonyx("run", model, "--input", source, "--expect", self.folder / "shape.npz", expect=1)
        self.assertIn("total", sardonyx("run", model, "--input", source, "--expect", self.folder / "name.npz", expect=10))

    def test_made_up_inputs(self):
        model = self.add()
        first = sardonyx("run", model, "--shape", "a:2x5", "--json")
        self.assertEqual(json.loads(first)["sum"]["shape"], [2, 5])
        self.assertEqual(first, sardonyx("run", model, "--shape", "a:2x5", "--json", "--threads", "1"))
        self.assertNotEqual(first, sardonyx("run", model, "--shape", "a:2x5", "--json", "--seed", "2"))
        for wrong in ("c:1", "a:2y", "3x3"):
            sardonyx("run", model, "--shape", wrong, expect=10)

    def test_sequences(self):
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        port = helper.make_value_info("s", helper.make_sequence_type_proto(tensor))
        model = self.save([helper.make_node("SequenceLength", ["s"], ["n"])], [port], [("n", TensorProto.INT64, [])])
        (self.folder / "s.json").write_text('{"s": [[1, 2], [3]]}')
        out = json.loads(sardonyx("run", model, "--input", self.folder / "s.json", "--json"))
        self.assertEqual(out["n"]["data"], [2])
        self.assertIn("sequence", sardonyx("run", model, expect=10))

    def test_exit_statuses(self):
        model = self.add()
        (self.folder / "broken.onnx").write_bytes(model.read_bytes()[:-7])
        unknown = self.save([helper.make_node("Nonsense", ["x"], ["y"], domain="made.up")], [("x", TensorProto.FLOAT, [1])],
                            [("y", TensorProto.FLOAT, [1])], name="unknown.onnx")
        sardonyx("run", expect=2)
        sardonyx("run", model, "--no-such-option", expect=2)
        sardonyx("nonsense", expect=2)
        sardonyx("run", model, "--providers", "abacus", expect=10)
        sardonyx("run", self.folder / "broken.onnx", expect=11)
        self.assertIn("Nonsense", sardonyx("run", unknown, expect=12))
        sardonyx("run", self.folder / "none.onnx", expect=13)
        sardonyx("run", model, "--shape", "a:1x1", "--output", "/nowhere/out.npz", expect=13)

    def test_profile(self):
        sardonyx("run", self.add(), "--shape", "a:1x1", "--profile", self.folder / "p.json")
        events = json.loads((self.folder / "p.json").read_text())["traceEvents"]
        self.assertEqual({e["args"]["op"] for e in events}, {"Add", "Mul"})


class Show(Folder):
    def setUp(self):
        super().setUp()
        weight = numpy_helper.from_array(np.eye(3, dtype=np.float32), "w")
        self.model = self.save([helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])],
                               [("x", TensorProto.FLOAT, ["n", 3])], [("y", TensorProto.FLOAT, ["n", 3])], [weight])

    def test_inspect(self):
        info = json.loads(sardonyx("inspect", self.model, "--json"))
        self.assertEqual(info["operators"], {"MatMul": 1, "Relu": 1})
        self.assertEqual((info["parameters"], info["parameter_bytes"]), (9, 36))
        self.assertEqual(info["inputs"][0] | {"shape": None}, {"name": "x", "kind": "tensor", "element_type": "float", "type": "float[n,3]", "shape": None})
        text = sardonyx("inspect", self.model, "--shape", "x:4x3")
        self.assertIn("memory plan", text)
        self.assertNotIn("\x1b", text)

    def test_explain(self):
        self.assertIn("cpu", sardonyx("explain", self.model))
        json.loads(sardonyx("explain", self.model, "--json"))

    def test_optimize(self):
        zero = numpy_helper.from_array(np.zeros(3, np.float32), "zero")
        shape = [("x", TensorProto.FLOAT, ["n", 3])], [("y", TensorProto.FLOAT, ["n", 3])]
        model = self.save([helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Identity", ["zero"], ["b"]),
                           helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Relu", ["c"], ["y"])], *shape, [zero], name="m.onnx")
        out = self.folder / "out.onnx"
        sardonyx("optimize", model, out)
        optimized = onnx.load(str(out))
        onnx.checker.check_model(optimized)
        self.assertNotIn("Identity", [n.op_type for n in optimized.graph.node])
        np.save(self.folder / "x.npy", np.array([[-1, 0, 2]], np.float32))
        sardonyx("run", model, "--input", self.folder / "x.npy", "--output", self.folder / "y.npz")
        sardonyx("run", out, "--input", self.folder / "x.npy", "--expect", self.folder / "y.npz", "--rtol", "0", "--atol", "0")
        self.assertIn("replace", sardonyx("optimize", model, model, expect=10))
        self.assertIn("model.onnx out.onnx", sardonyx("optimize", expect=10))
        names = [line.split()[0] for line in sardonyx("optimize", "--list-passes").splitlines()]
        self.assertGreater(len(names), 3)
        for name in names:
            sardonyx("run", model, "--input", self.folder / "x.npy", "--disable-pass", name, "--expect", self.folder / "y.npz")
        sardonyx("run", model, "--input", self.folder / "x.npy", "--disable-pass", "no_such_pass", expect=10)

    def test_bench(self):
        result = json.loads(sardonyx("bench", self.model, "--shape", "x:4x3", "--iterations", "20", "--json"))
        self.assertEqual(result["runs"], 20)
        self.assertEqual(result["inputs"], {"x": [4, 3]})
        self.assertTrue(0 < result["min_ms"] <= result["median_ms"] <= result["p99_ms"] <= result["max_ms"])
        self.assertGreater(result["load_s"], 0)
        self.assertGreater(result["peak_mib"], 1)
        self.assertTrue(result["operators"])
        self.assertAlmostEqual(sum(o["share"] for o in result["operators"]), 1, places=6)
        self.assertEqual(result["nodes"], [])

    def test_bench_by_node(self):
        options = ("--shape", "x:4x3", "--iterations", "5", "--nodes", "1")
        result = json.loads(sardonyx("bench", self.model, *options, "--json"))
        self.assertEqual(len(result["nodes"]), 1)
        self.assertIn("[4,3]", result["nodes"][0]["shapes"])
        slowest = result["nodes"][0]["ms"]
        self.assertTrue(0 < slowest <= max(o["ms"] for o in result["operators"]) + 1e-9)
        self.assertIn("node, shapes", sardonyx("bench", self.model, *options))

    def test_help_everywhere(self):
        for command in ("bench", "classify", "explain", "inspect", "optimize", "run", "serve"):
            self.assertIn("Examples:", sardonyx(command, "--help"))
        self.assertIn("Exit status", sardonyx("--help"))
        self.assertRegex(sardonyx("--version"), r"\d+\.\d+\.\d+")

    def test_closed_output(self):
        self.assertEqual(os.system(f"{program.PROGRAM} inspect {self.model} | head -1 > /dev/null"), 0)


if __name__ == "__main__":
    program.main()
