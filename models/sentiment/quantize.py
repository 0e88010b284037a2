"""Stores the large weights of an ONNX model as int8, with DequantizeLinear in front of their readers: the arithmetic stays float."""
import numpy as np
import onnx
from onnx import helper, numpy_helper

SMALLEST = 1024  # elements; what is smaller stays float


def channel_axis(reader, input_index):
    """The axis along which each slice has a scale of its own: rows of a table that Gather reads, columns of a right-hand matrix."""
    if reader.op_type == "Gather" and input_index == 0:
        return 0
    if reader.op_type == "MatMul" and input_index == 1:
        return 1
    if reader.op_type == "Gemm" and input_index == 1:
        return 0 if any(a.name == "transB" and a.i for a in reader.attribute) else 1
    return None


def quantized(weight, axis):
    """-> (int8 of the same shape, float32 scales along the axis); symmetric, |q| <= 127"""
    others = tuple(i for i in range(weight.ndim) if i != axis)
    scale = np.abs(weight).max(axis=others) / np.float32(127)
    scale = np.where(scale == 0, np.float32(1), scale).astype(np.float32)
    shape = [1] * weight.ndim
    shape[axis] = -1
    values = np.clip(np.rint(weight / scale.reshape(shape)), -127, 127).astype(np.int8)
    return values, scale


def weights_to_int8(model):
    """A copy of the model whose float matrices and tables, where all readers agree on a channel axis, are int8 initialisers."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    graph = out.graph
    readers = {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            readers.setdefault(name, []).append((node, index))
    dequantize, initializers = [], []
    for tensor in graph.initializer:
        axes = {channel_axis(node, index) for node, index in readers.get(tensor.name, [])}
        large = tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) == 2 and int(np.prod(tensor.dims)) >= SMALLEST
        if not large or len(axes) != 1 or None in axes:
            initializers.append(tensor)
            continue
        axis = axes.pop()
        values, scale = quantized(numpy_helper.to_array(tensor), axis)
        names = [tensor.name + "_int8", tensor.name + "_scale"]
        initializers += [numpy_helper.from_array(values, names[0]), numpy_helper.from_array(scale, names[1])]
        dequantize.append(helper.make_node("DequantizeLinear", names, [tensor.name], f"dequantize_{tensor.name}", axis=axis))
    nodes = dequantize + list(graph.node)
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(initializers)
    graph.node.extend(nodes)
    onnx.checker.check_model(out, full_check=True)
    return out
