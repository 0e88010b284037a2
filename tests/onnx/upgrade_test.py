#!/usr/bin/env python3
"""Models of old opsets, upgraded by `rewrite_models`, must compute what the old opset meant.

    upgrade_test.py REWRITE_MODELS

Each case is one node of an old opset, inputs, and the expected outputs, computed here with NumPy from the old operator's
definition. The upgraded model is checked by onnx.checker and run by ONNX's reference implementation. Every case runs with the
inputs' shapes known and, where the upgrade may need a rank, once more without."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(7)


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


CASES = []  # (name, opset, node, inputs, expected, unranked)


def case(name, opset, op, inputs, expected, outputs=1, unranked=True, domain="", input_names=None, **attributes):
    """`expected`: one array or a list, None where an output's value does not matter."""
    expected = expected if isinstance(expected, list) else [expected]
    names = input_names or [f"x{i}" for i in range(len(inputs))]
    node = h.make_node(op, names, [f"y{i}" for i in range(len(expected))], name=name, domain=domain, **attributes)
    CASES.append((name, opset, node, dict(zip([n for n in names if n], inputs)), expected, unranked))


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def flat_softmax(x, axis):
    return softmax(x.reshape(int(np.prod(x.shape[:axis])), -1), 1).reshape(x.shape)


def flat_hardmax(x, axis):
    m = x.reshape(int(np.prod(x.shape[:axis])), -1)
    return (np.arange(m.shape[1]) == m.argmax(axis=1)[:, None]).astype(x.dtype).reshape(x.shape)


def nearest(x, scales, rounding=np.floor):
    shape = [int(np.floor(d * s)) for d, s in zip(x.shape, scales)]
    for axis, (size, scale) in enumerate(zip(shape, scales)):
        source = np.clip(rounding(np.arange(size) / np.float32(scale)).astype(int), 0, x.shape[axis] - 1)
        x = np.take(x, source, axis=axis)
    return x


def batch_norm(x, scale, bias, mean, var, eps=1e-5):
    s = [-1 if i == 1 else 1 for i in range(x.ndim)]
    return (x - mean.reshape(s)) / np.sqrt(var.reshape(s) + eps) * scale.reshape(s) + bias.reshape(s)


x345, a2345 = f(3, 4, 5), f(2, 3, 4, 5)
for axis in (0, 1, 2):
    for op, meaning in (("Softmax", flat_softmax), ("Hardmax", flat_hardmax), ("LogSoftmax", lambda x, a: np.log(flat_softmax(x, a)))):
        case(f"{op}_1_axis{axis}", 1, op, [x345], meaning(x345, axis), axis=axis)
        case(f"{op}_11_axis{axis}", 11, op, [x345], meaning(x345, axis), axis=axis)
case("Softmax_11_negative_axis", 11, "Softmax", [x345], flat_softmax(x345, 1), axis=-2)
case("Softmax_9_default_axis", 9, "Softmax", [a2345], flat_softmax(a2345, 1))

# Broadcasting before opset 7
b34, b3, positive = f(3, 4), f(3), np.abs(f(2, 3, 4, 5)) + 0.5
case("Add_6_axis1", 6, "Add", [a2345, b34], a2345 + b34[..., None], broadcast=1, axis=1)
case("Add_6_suffix", 6, "Add", [a2345, x345[:, :, :]], a2345 + x345, broadcast=1)
case("Add_1_equal_shapes", 1, "Add", [a2345, a2345], a2345 + a2345, consumed_inputs=[0, 0])
case("Sub_6_axis1_channel", 6, "Sub", [a2345, b3], a2345 - b3[:, None, None], broadcast=1, axis=1)
case("Mul_6_axis0", 6, "Mul", [a2345, f(2) * 0 + 3], a2345 * 3, broadcast=1, axis=0)
case("Div_6_negative_axis", 6, "Div", [a2345, positive[0, 0, :, 0]], a2345 / positive[0, 0, :, 0][:, None], broadcast=1, axis=-2)
case("Pow_1_axis1", 1, "Pow", [positive, b3], positive ** b3[:, None, None], broadcast=1, axis=1)
case("Equal_1_axis1", 1, "Equal", [np.arange(6).reshape(1, 3, 2).astype(np.int32), np.array([0, 3, 9], np.int32)],
     np.arange(6).reshape(1, 3, 2) == np.array([0, 3, 9])[:, None], broadcast=1, axis=1)
case("Greater_1_axis1", 1, "Greater", [a2345, b3], a2345 > b3[:, None, None], broadcast=1, axis=1)
case("Less_1_axis1", 1, "Less", [a2345, b3], a2345 < b3[:, None, None], broadcast=1, axis=1)
for op, meaning in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
    case(f"{op}_1_axis1", 1, op, [a2345 > 0, b3 > 0], meaning(a2345 > 0, (b3 > 0)[:, None, None]), broadcast=1, axis=1)
case("PRelu_6_channels", 6, "PRelu", [a2345, b3], np.where(a2345 < 0, a2345 * b3[:, None, None], a2345))
case("PRelu_6_one_slope", 6, "PRelu", [a2345, b3[:1]], np.where(a2345 < 0, a2345 * b3[0], a2345))
case("Gemm_6_broadcast", 6, "Gemm", [f(2, 3) * 0 + 1, f(3, 4) * 0 + 2, b34[0]], 6 + np.tile(b34[0], (2, 1)), broadcast=1)

# Attributes that became inputs
case("Squeeze_1", 1, "Squeeze", [f(1, 3, 1, 2) * 0], np.zeros((3, 2), np.float32), axes=[0, 2])
case("Squeeze_11_all", 11, "Squeeze", [f(1, 3, 1, 2) * 0], np.zeros((3, 2), np.float32))
case("Unsqueeze_1", 1, "Unsqueeze", [b34], b34[None, :, None], axes=[0, 2])
case("Unsqueeze_11_negative", 11, "Unsqueeze", [b34], b34[..., None], axes=[-1])
REDUCTIONS = {
    "ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod,
    "ReduceL1": lambda x, **k: np.sum(np.abs(x), **k), "ReduceL2": lambda x, **k: np.sqrt(np.sum(x * x, **k)),
    "ReduceSumSquare": lambda x, **k: np.sum(x * x, **k), "ReduceLogSum": lambda x, **k: np.log(np.sum(x, **k)),
    "ReduceLogSumExp": lambda x, **k: np.log(np.sum(np.exp(x), **k)),
}
for op, meaning in REDUCTIONS.items():
    case(f"{op}_1", 1, op, [positive], meaning(positive, axis=(1, 3), keepdims=True), axes=[1, 3])
    case(f"{op}_11_all", 11, op, [positive], meaning(positive, axis=None), keepdims=0)
case("ReduceMean_17", 17, "ReduceMean", [positive], positive.mean(axis=-1), axes=[-1], keepdims=0)
case("Split_2", 2, "Split", [x345], [x345[:, :1], x345[:, 1:]], axis=1, split=[1, 3])
case("Split_11_equal", 11, "Split", [x345], [x345[:, :2], x345[:, 2:]], axis=1)
case("Split_13_equal", 13, "Split", [x345], [x345[:, :2], x345[:, 2:]], axis=1)
case("Split_1_input", 1, "Split", [x345, np.array([1, 3], np.float32)], [x345[:, :1], x345[:, 1:]], axis=1)
case("Slice_1", 1, "Slice", [x345], x345[1:3, :, 0:-1], starts=[1, 0], ends=[3, -1], axes=[0, 2])
case("Slice_1_no_axes", 1, "Slice", [x345], x345[1:9, 0:2], starts=[1, 0], ends=[9, 2])
case("Pad_1", 1, "Pad", [b34], np.pad(b34, ((1, 0), (2, 3)), constant_values=1.5), paddings=[1, 2, 0, 3], value=1.5)
case("Pad_2_reflect", 2, "Pad", [b34], np.pad(b34, ((1, 0), (2, 3)), mode="reflect"), pads=[1, 2, 0, 3], mode="reflect")
case("Pad_10_double", 10, "Pad", [b34.astype(np.float64)], np.pad(b34.astype(np.float64), ((0, 0), (0, 1)), constant_values=2), pads=[0, 0, 0, 1], value=2.0)
case("Clip_1", 1, "Clip", [x345], np.clip(x345, -0.5, 0.25), min=-0.5, max=0.25)
case("Clip_6_min_only", 6, "Clip", [x345.astype(np.float64)], np.clip(x345.astype(np.float64), -0.5, None), min=-0.5)
case("Clip_6_half", 6, "Clip", [x345.astype(np.float16)], np.clip(x345.astype(np.float16), None, np.float16(0.25)), max=0.25)
case("TopK_1", 1, "TopK", [x345], [-np.sort(-x345, axis=-1)[..., :2], np.argsort(-x345, axis=-1, kind="stable")[..., :2]], k=2)
case("Reshape_1", 1, "Reshape", [x345], x345.reshape(3, 20), shape=[0, -1])
case("Tile_1", 1, "Tile", [x345, np.float32(3).reshape(()), np.float32(1).reshape(())], np.tile(x345, (1, 3, 1)))
case("DFT_17", 17, "DFT", [f(2, 6, 1) * 0 + 1], np.stack([np.real(np.fft.fft(np.ones((2, 6)))), np.imag(np.fft.fft(np.ones((2, 6))))], -1).astype(np.float32))
case("Concat_1_default_axis", 1, "Concat", [x345, x345], np.concatenate([x345, x345], 1))

# Changed names and numbers
case("Cast_1_name", 1, "Cast", [x345 * 3], (x345 * 3).astype(np.int32), to="INT32")
case("Cast_1_double", 1, "Cast", [x345], x345.astype(np.float64), to="DOUBLE")
case("Selu_1", 1, "Selu", [x345], np.where(x345 > 0, 1.0507 * x345, 1.0507 * 1.6732 * (np.exp(x345) - 1)).astype(np.float32))
case("LpPool_1", 1, "LpPool", [positive],
     np.sqrt(np.lib.stride_tricks.sliding_window_view(positive ** 2, (2, 2), (2, 3)).sum((-1, -2))), kernel_shape=[2, 2], p=2.0)
case("Scatter_9", 9, "Scatter", [np.zeros((2, 3), np.float32), np.array([[1, 0, 1]]), f(1, 3) * 0 + 4],
     np.array([[0, 4, 0], [4, 0, 4]], np.float32))
case("Dropout_1_test", 1, "Dropout", [x345], [x345, np.ones_like(x345)], is_test=1, ratio=0.9)
case("Dropout_7", 7, "Dropout", [x345], [x345, np.ones_like(x345)], ratio=0.9)
case("Dropout_10", 10, "Dropout", [x345], [x345, np.ones(x345.shape, bool)], ratio=0.9)
case("GridSample_16", 16, "GridSample", [a2345, np.zeros((2, 1, 1, 2), np.float32)],
     ((a2345[:, :, 1:3, 2:3]).mean(2, keepdims=True)), mode="bilinear", align_corners=1)
case("LabelEncoder_1", 9, "LabelEncoder", [np.array(["b", "zz", "a"], object)], i64(1, -1, 0), domain="ai.onnx.ml",
     classes_strings=["a", "b"], unranked=False)
case("LabelEncoder_1_back", 9, "LabelEncoder", [i64(1, 7, 0)], np.array(["b", "?", "a"], object), domain="ai.onnx.ml",
     classes_strings=["a", "b"], default_string="?", unranked=False)

# Normalisation
c = [np.abs(f(3)) + 0.5 for _ in range(4)]
case("BatchNormalization_1_test", 1, "BatchNormalization", [a2345, *c], batch_norm(a2345, *c), is_test=1, spatial=1, consumed_inputs=[0] * 5)
case("BatchNormalization_6_test", 6, "BatchNormalization", [a2345, *c], batch_norm(a2345, *c), is_test=1)
case("BatchNormalization_7", 7, "BatchNormalization", [a2345, *c], batch_norm(a2345, *c, eps=1e-2), epsilon=1e-2)
case("BatchNormalization_9", 9, "BatchNormalization", [a2345, *c], batch_norm(a2345, *c))
p = [np.abs(f(3, 4, 5)) + 0.5 for _ in range(4)]
case("BatchNormalization_7_per_activation", 7, "BatchNormalization", [a2345, *p],
     (a2345 - p[2]) / np.sqrt(p[3] + 1e-5) * p[0] + p[1], spatial=0)
batch_mean, batch_var = a2345.mean((0, 2, 3)), a2345.var((0, 2, 3))
case("BatchNormalization_9_training", 9, "BatchNormalization", [a2345, *c],
     [batch_norm(a2345, c[0], c[1], batch_mean, batch_var), c[2] * 0.9 + batch_mean * 0.1, c[3] * 0.9 + batch_var * 0.1, batch_mean, batch_var],
     unranked=False)
g = f(2, 6, 4)
grouped = g.reshape(2, 3, 8)
grouped = ((grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 1e-5))
case("GroupNormalization_18", 18, "GroupNormalization", [g, b3, b3 * 2],
     (grouped * b3[:, None] + 2 * b3[:, None]).reshape(2, 6, 4), num_groups=3)

# Images
case("Upsample_1", 1, "Upsample", [a2345], nearest(a2345, [1, 1, 2, 3]), height_scale=2.0, width_scale=3.0)
case("Upsample_7", 7, "Upsample", [a2345], nearest(a2345, [1, 1, 2, 1.5]), scales=[1.0, 1.0, 2.0, 1.5], mode="nearest")
case("Upsample_9", 9, "Upsample", [a2345, np.array([1, 1, 2, 2], np.float32)], nearest(a2345, [1, 1, 2, 2]))
case("Resize_10", 10, "Resize", [a2345, np.array([1, 1, 2, 2], np.float32)], nearest(a2345, [1, 1, 2, 2]))
tf = np.take(np.take(a2345, np.floor((np.arange(6) + 0.5) / 1.5).astype(int), 2), np.floor((np.arange(10) + 0.5) / 2).astype(int), 3)
case("Resize_11_tf_half_pixel_for_nn", 11, "Resize", [a2345, np.zeros(0, np.float32), np.array([1, 1, 1.5, 2], np.float32)], tf,
     coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor")
roi = np.array([[0.5, 0.5, 3, 3]], np.float32)
case("RoiAlign_10", 10, "RoiAlign", [np.tile(np.arange(5, dtype=np.float32), (1, 1, 5, 1)), roi, i64(0)],
     np.full((1, 1, 1, 1), 1.75, np.float32), output_height=1, output_width=1, sampling_ratio=1)

# Experimental operators of old converters
case("Affine_1", 1, "Affine", [x345], 2 * x345 + 3, alpha=2.0, beta=3.0)
case("ScaledTanh_1", 1, "ScaledTanh", [x345], 2 * np.tanh(3 * x345), alpha=2.0, beta=3.0)
case("ParametricSoftplus_1", 1, "ParametricSoftplus", [x345], 2 * np.log1p(np.exp(3 * x345)), alpha=2.0, beta=3.0)
case("Scale_1", 1, "Scale", [x345], 2 * x345, scale=2.0)
case("ImageScaler_1", 1, "ImageScaler", [a2345], 2 * a2345 + np.array([1, 2, 3], np.float32)[:, None, None], scale=2.0, bias=[1.0, 2.0, 3.0])
case("Crop_1", 1, "Crop", [a2345], a2345[:, :, 1:4, 2:4], border=[2, 1, 1, 0])
case("Crop_1_scale", 1, "Crop", [a2345], a2345[:, :, 1:3, 2:5], border=[2, 1, 0, 0], scale=[2, 3])


def scan_8(lengths):
    """Running sums over sequences, with a value of the outer graph added: -> node, inputs, expected."""
    body = h.make_graph(
        [h.make_node("Add", ["s", "e"], ["s_out"]), h.make_node("Add", ["s_out", "bias"], ["row"])], "body",
        [h.make_tensor_value_info("s", T.FLOAT, [2]), h.make_tensor_value_info("e", T.FLOAT, [2])],
        [h.make_tensor_value_info("s_out", T.FLOAT, [2]), h.make_tensor_value_info("row", T.FLOAT, [2])])
    first = "lengths" if lengths is not None else ""
    node = h.make_node("Scan", [first, "init", "xs"], ["final", "rows"], name="scan", body=body, num_scan_inputs=1)
    init, xs, bias = f(3, 2), f(3, 4, 2), f(2)
    final, rows = init.copy(), np.zeros((3, 4, 2), np.float32)
    for b in range(3):
        for t in range(4 if lengths is None else lengths[b]):
            final[b] += xs[b, t]
            rows[b, t] = final[b] + bias
    inputs = {"init": init, "xs": xs, "bias": bias}
    if lengths is not None:
        inputs["lengths"] = i64(*lengths)
    return node, inputs, {"final": final, "rows": rows}


for lengths in (None, (4, 1, 2)):
    node, inputs, expected = scan_8(lengths)
    CASES.append((f"Scan_8_{'lengths' if lengths else 'whole'}", 8, node, inputs, list(expected.values()), False))


def type_of(value):
    return T.STRING if value.dtype == object else h.np_dtype_to_tensor_dtype(value.dtype)


def make_model(opset, node, inputs, expected, with_shapes):
    infos = [h.make_tensor_value_info(n, type_of(v), list(v.shape) if with_shapes else None) for n, v in inputs.items()]
    outputs = [h.make_tensor_value_info(n, T.UNDEFINED, None) for n in node.output]
    graph = h.make_graph([node], "case", infos, outputs)
    opsets = [h.make_opsetid("", opset)] + ([h.make_opsetid(node.domain, 1)] if node.domain else [])
    return h.make_model(graph, opset_imports=opsets, ir_version=max(3, min(8, opset)))


def run_case(path, name, inputs, expected):
    """-> what is wrong, or None"""
    model = onnx.load(path)
    if all(value.type.tensor_type.HasField("shape") for value in [*model.graph.input, *model.graph.output]):
        onnx.checker.check_model(model)  # which wants a rank for each
    got = ReferenceEvaluator(model).run(None, inputs)
    for index, (value, wanted) in enumerate(zip(got, expected)):
        wanted = np.asarray(wanted)
        value = np.asarray(value)
        if value.shape != wanted.shape:
            return f"output {index} has shape {value.shape}, not {wanted.shape}"
        if wanted.dtype == object:
            if list(value.ravel()) != list(wanted.ravel()):
                return f"output {index} is {value}, not {wanted}"
        elif value.dtype != wanted.dtype and wanted.dtype != np.float64:
            return f"output {index} has type {value.dtype}, not {wanted.dtype}"
        elif not np.allclose(value, wanted, rtol=1e-4, atol=1e-5):
            return f"output {index} is\n{value}\nnot\n{wanted}"
    return None


def main():
    with tempfile.TemporaryDirectory() as folder:
        old, new = pathlib.Path(folder, "old"), pathlib.Path(folder, "new")
        old.mkdir(), new.mkdir()
        runs = {}
        for name, opset, node, inputs, expected, unranked in CASES:
            for with_shapes in (True, False) if unranked else (True,):
                key = name if with_shapes else name + "__unranked"
                assert key not in runs, key
                runs[key] = (inputs, expected)
                onnx.save(make_model(opset, node, inputs, expected, with_shapes), old / f"{key}.onnx")
        subprocess.run([sys.argv[1], old, new])
        failures = 0
        for key, (inputs, expected) in runs.items():
            try:
                wrong = run_case(new / f"{key}.onnx", key, inputs, expected) if (new / f"{key}.onnx").exists() else "it does not load"
            except Exception as error:
                wrong = f"{type(error).__name__}: {str(error)[:600]}"
            if wrong:
                failures += 1
                print(f"FAILED {key}: {wrong}")
        print(f"{len(runs) - failures} of {len(runs)} upgraded models compute what the old ones meant")
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
