#!/usr/bin/env python3
"""Inputs whose sizes and values contradict a one-node model that declares every dimension as a symbol: nothing is known when the
model is loaded, so each contradiction must be found when it runs, as an error, and before a kernel reads or writes out of bounds.

    symbolic_shapes_test.py --program build/release/apps/sardonyx

Run it on a build with AddressSanitizer to see that "before" holds."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper

FAULTS = {10, 11, 12, 15}  # invalid_argument, invalid_model, unsupported, resource_exhausted


def floats(*shape):
    return np.random.default_rng(1).random(shape, np.float32)


def ints(*values):
    return np.array(values, np.int64)


def number(value):
    return np.array(value, np.int64)


# name: (operator, inputs, what else the node has)
WRONG = {
    "more best elements than there are": ("TopK", {"x": floats(3)}, {"constants": {"k": ints(10)}, "outputs": 2}),
    "a negative number of best elements": ("TopK", {"x": floats(3), "k": ints(-1)}, {"outputs": 2}),
    "Gemm: C larger than the product of one": ("Gemm", {"a": floats(1, 3), "b": floats(3, 1), "c": floats(5)}, {}),
    "Gemm: C of another width": ("Gemm", {"a": floats(2, 3), "b": floats(3, 4), "c": floats(2, 5)}, {}),
    "PRelu: slope larger than x": ("PRelu", {"x": floats(2, 1), "s": floats(2, 5)}, {}),
    "LayerNormalization: scale larger than x": ("LayerNormalization", {"x": floats(2, 1), "s": floats(5)}, {}),
    "LayerNormalization: scale of another width": ("LayerNormalization", {"x": floats(2, 4), "s": floats(2)}, {}),
    "RMSNormalization: scale of another width": ("RMSNormalization", {"x": floats(2, 4), "s": floats(2)}, {}),
    "groups that don't divide the channels": ("GroupNormalization", {"x": floats(1, 5, 2), "s": floats(5), "b": floats(5)}, {"num_groups": 2}),
    "InstanceNormalization: scale of another length": ("InstanceNormalization", {"x": floats(1, 5, 2), "s": floats(4), "b": floats(5)}, {}),
    "Conv: groups that don't divide the outputs": ("Conv", {"x": floats(1, 4, 5), "w": floats(5, 2, 3)}, {"group": 2}),
    "Conv: weights of another kernel": ("Conv", {"x": floats(1, 4, 9), "w": floats(4, 4, 3)}, {"kernel_shape": [5]}),
    "ConvTranspose: groups that don't divide": ("ConvTranspose", {"x": floats(1, 5, 5), "w": floats(5, 2, 3)}, {"group": 2}),
    "ConvTranspose: padding beyond the output": ("ConvTranspose", {"x": floats(1, 2, 2), "w": floats(2, 2, 1)}, {"pads": [3, 3]}),
    "a window larger than the data": ("MaxPool", {"x": floats(1, 2, 3)}, {"kernel_shape": [5]}),
    "Split: sizes that don't add up": ("Split", {"x": floats(4)}, {"constants": {"s": ints(2, 3)}, "outputs": 2}),
    "Split: a negative size": ("Split", {"x": floats(4), "s": ints(-1, 5)}, {"outputs": 2}),
    "Gather beyond the end": ("Gather", {"x": floats(3, 2), "i": ints(3)}, {}),
    "Gather before the beginning": ("Gather", {"x": floats(3, 2), "i": ints(-4)}, {}),
    "GatherElements beyond": ("GatherElements", {"x": floats(3, 2), "i": ints([3, 0])}, {}),
    "GatherElements wider than the data": ("GatherElements", {"x": floats(3, 2), "i": np.zeros((2, 5), np.int64)}, {}),
    "GatherND beyond": ("GatherND", {"x": floats(3, 2), "i": ints([3, 0])}, {}),
    "GatherND: more batches than there are": ("GatherND", {"x": floats(3, 2), "i": np.zeros((4, 1), np.int64)}, {"batch_dims": 1}),
    "ScatterElements beyond": ("ScatterElements", {"x": floats(3, 2), "i": ints([5, 0]), "u": floats(1, 2)}, {}),
    "ScatterElements wider than the data": ("ScatterElements", {"x": floats(3, 2), "i": np.zeros((1, 5), np.int64), "u": floats(1, 5)}, {}),
    "ScatterElements: fewer updates than indices": ("ScatterElements", {"x": floats(3, 2), "i": np.zeros((1, 2), np.int64), "u": floats(1, 1)}, {}),
    "ScatterND beyond": ("ScatterND", {"x": floats(3, 2), "i": ints([9]), "u": floats(1, 2)}, {}),
    "ScatterND: updates too short": ("ScatterND", {"x": floats(3, 2), "i": ints([1]), "u": floats(1, 1)}, {}),
    "Tile by a negative number": ("Tile", {"x": floats(3, 2), "r": ints(1, -1)}, {}),
    "Expand to another size": ("Expand", {"x": floats(3, 2), "r": ints(4, 2)}, {}),
    "Reshape to another count": ("Reshape", {"x": floats(3, 2), "r": ints(4, 2)}, {}),
    "Reshape that copies what isn't there": ("Reshape", {"x": floats(3, 2), "r": ints(0, 0, 0)}, {}),
    "Pad away more than there is": ("Pad", {"x": floats(3, 2), "p": ints(-5, 0, 0, 0)}, {}),
    "Pad with the edge of nothing": ("Pad", {"x": floats(0, 2), "p": ints(1, 0, 1, 0)}, {"mode": "edge"}),
    "Slice with a step of 0": ("Slice", {"x": floats(3, 2), "s": ints(0), "e": ints(9), "a": ints(0), "t": ints(0)}, {}),
    "OneHot with three values": ("OneHot", {"i": ints(1), "d": ints(3), "v": floats(3)}, {}),
    "Compress longer than the data": ("Compress", {"x": floats(3), "c": np.ones(5, bool)}, {}),
    "MaxUnpool beyond": ("MaxUnpool", {"x": floats(1, 1, 2), "i": ints([[0, 99]])}, {"kernel_shape": [2]}),
    "NonMaxSuppression: boxes without scores": ("NonMaxSuppression", {"b": floats(1, 3, 4), "s": floats(1, 1, 5), "m": ints(3)}, {}),
    "RoiAlign of a batch item that isn't there": ("RoiAlign", {"x": floats(1, 1, 4, 4), "r": floats(2, 4), "b": ints(0, 7)}, {}),
    "channels that aren't whole blocks": ("DepthToSpace", {"x": floats(1, 5, 2, 2)}, {"blocksize": 2}),
    "sides that aren't whole blocks": ("SpaceToDepth", {"x": floats(1, 4, 3, 3)}, {"blocksize": 2}),
    "a sequence longer than the data": ("ReverseSequence", {"x": floats(3, 2), "l": ints(9, 1)}, {}),
    "complex numbers of three parts": ("DFT", {"x": floats(1, 4, 3)}, {}),
    "STFT without a step": ("STFT", {"x": floats(1, 8, 1), "s": ints(0)}, {}),
    "Resize beyond memory": ("Resize", {"x": floats(1, 1, 2, 2), "r": floats(0), "s": np.array([1, 1, 1e9, 1e9], np.float32)}, {}),
    "GridSample: other batches": ("GridSample", {"x": floats(1, 1, 4, 4), "g": floats(2, 2, 2, 2)}, {}),
    "GridSample: points in space": ("GridSample", {"x": floats(1, 1, 4, 4), "g": floats(1, 2, 2, 3)}, {}),
    "LSTM: weights of another size": ("LSTM", {"x": floats(3, 1, 4), "w": floats(1, 20, 4), "r": floats(1, 16, 4)}, {"hidden_size": 4}),
    "LSTM: weights for other inputs": ("LSTM", {"x": floats(3, 1, 4), "w": floats(1, 16, 5), "r": floats(1, 16, 4)}, {"hidden_size": 4}),
    "LSTM: a sequence longer than the data": ("LSTM", {"x": floats(3, 1, 4), "w": floats(1, 16, 4), "r": floats(1, 16, 4), "b": floats(1, 32),
                                                       "l": np.array([9], np.int32)}, {"hidden_size": 4}),
    "Attention: more values than keys": ("Attention", {"q": floats(1, 2, 3, 4), "k": floats(1, 2, 5, 4), "v": floats(1, 2, 6, 4)}, {}),
    "Attention: a mask for more heads": ("Attention", {"q": floats(1, 1, 3, 4), "k": floats(1, 1, 5, 4), "v": floats(1, 1, 5, 4), "m": floats(1, 7, 3, 5)}, {}),
    "Attention: a mask for more keys": ("Attention", {"q": floats(1, 1, 3, 4), "k": floats(1, 1, 5, 4), "v": floats(1, 1, 5, 4), "m": floats(3, 9)}, {}),
    "Attention: heads in no whole groups": ("Attention", {"q": floats(1, 3, 3, 4), "k": floats(1, 2, 5, 4), "v": floats(1, 2, 5, 4)}, {}),
    "a position beyond the cache": ("RotaryEmbedding", {"x": floats(1, 2, 3, 4), "c": floats(5, 2), "s": floats(5, 2), "p": ints([0, 9, 1])}, {}),
    "TensorScatter beyond the cache": ("TensorScatter", {"c": floats(1, 1, 4, 2), "u": floats(1, 1, 3, 2), "w": ints(3)}, {}),
    "Col2Im: columns that don't fit": ("Col2Im", {"x": floats(1, 5, 5), "s": ints(5, 5), "b": ints(1, 3)}, {}),
    "Range beyond memory": ("Range", {"a": number(0), "b": number(2 ** 62), "c": number(1)}, {}),
    "Range without a step": ("Range", {"a": number(0), "b": number(5), "c": number(0)}, {}),
    "ConstantOfShape beyond counting": ("ConstantOfShape", {"s": ints(2 ** 40, 2 ** 40)}, {}),
    "Einsum: another inner size": ("Einsum", {"a": floats(2, 3), "b": floats(4, 5)}, {"equation": "ij,jk->ik"}),
    "MatMul: another inner size": ("MatMul", {"a": floats(2, 3), "b": floats(4, 5)}, {}),
    "Concat: another width": ("Concat", {"a": floats(2, 3), "b": floats(4, 5)}, {"axis": 0}),
    "Where: branches that don't broadcast": ("Where", {"c": np.array([True]), "a": floats(3), "b": floats(4)}, {}),
    "a class that isn't there": ("SoftmaxCrossEntropyLoss", {"x": floats(2, 3), "t": ints(0, 7)}, {}),
    "scales for another axis": ("DequantizeLinear", {"x": np.ones((2, 3), np.int32), "s": floats(4)}, {}),
    "the determinant of a rectangle": ("Det", {"x": floats(2, 3)}, {}),
}
# The same for what is unusual and right: name: (operator, inputs, what else, shapes of the outputs)
RIGHT = {
    "fewer elements than parts": ("Split", {"x": floats(1)}, {"num_outputs": 4, "outputs": 4}, [[1], [0], [0], [0]]),
    "parts of which the last is short": ("Split", {"x": floats(7)}, {"num_outputs": 3, "outputs": 3}, [[3], [3], [1]]),
    "all of the elements are best": ("TopK", {"x": floats(3)}, {"constants": {"k": ints(3)}, "outputs": 2}, [[3], [3]]),
    "a bias of one element": ("Gemm", {"a": floats(2, 3), "b": floats(3, 4), "c": floats(1, 1)}, {}, [[2, 4]]),
    "a diagonal outside": ("EyeLike", {"x": floats(3, 2)}, {"k": 99}, [[3, 2]]),
    "a kernel that fits nowhere": ("Conv", {"x": floats(1, 4, 2), "w": floats(4, 4, 3)}, {}, [[1, 4, 0]]),
}


def build(operator, inputs, more):
    more = dict(more)
    constants, outputs = more.pop("constants", {}), [f"out{i}" for i in range(more.pop("outputs", 1))]
    ports = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), [f"{name}_{i}" for i in range(array.ndim)])
             for name, array in inputs.items()]
    node = helper.make_node(operator, [*inputs, *constants], outputs, **more)
    graph = helper.make_graph([node], "one", ports, [helper.make_empty_tensor_value_info(name) for name in outputs],
                              [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)


def run(program, folder, operator, inputs, more):
    """-> (exit status, what was said, outputs)"""
    onnx.save(build(operator, inputs, more), folder / "model.onnx")
    np.savez(folder / "in.npz", **inputs)
    command = [program, "run", folder / "model.onnx", "--input", folder / "in.npz", "--output", folder / "out.npz"]
    environment = {"ASAN_OPTIONS": "allocator_may_return_null=1"} | os.environ
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    outputs = dict(np.load(folder / "out.npz")) if done.returncode == 0 else {}
    return done.returncode, done.stderr.strip(), outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, (operator, inputs, more) in WRONG.items():
            status, message, _ = run(program, folder, operator, inputs, more)
            if status not in FAULTS or operator not in message:
                failures.append(f"{name}: expected an error that names {operator}, found status {status}: {message[:2000]}")
        for name, (operator, inputs, more, shapes) in RIGHT.items():
            status, message, outputs = run(program, folder, operator, inputs, more)
            found = [list(array.shape) for array in outputs.values()]
            if status != 0 or found != shapes:
                failures.append(f"{name}: expected {shapes}, found {found}, status {status}: {message[:2000]}")
    print("\n".join(failures) or f"{len(WRONG)} contradictions found out, {len(RIGHT)} oddities run")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
