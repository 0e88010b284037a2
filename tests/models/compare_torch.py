#!/usr/bin/env python3
"""Exports small PyTorch modules with both of PyTorch's exporters and compares Sardonyx with PyTorch itself, so that the graphs
that users will export today are covered, and not only those that lie in model files.

    compare_torch.py --program build/release/tests/models/model_runner

Exit code: 0 all agree, 1 a module differs or fails."""
import argparse
import sys
import tempfile
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from compare import PLAIN, VARIANTS, Failure, Runner, check_same_bits, difference

TOLERANCE = 1e-4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(48, 4, 96, activation="gelu", batch_first=True, norm_first=True)

    def forward(self, x):
        return self.layer(x)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell = kind(20, 24, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, x):
        out, _ = self.cell(x)
        return out.amax(1)


class Decoder(nn.Module):
    """Causal attention over embeddings with a mask made of comparisons, as language models have it."""

    def __init__(self):
        super().__init__()
        self.embed, self.project = nn.Embedding(100, 32), nn.Linear(32, 96)

    def forward(self, ids):
        q, k, v = self.project(self.embed(ids)).reshape(ids.shape[0], ids.shape[1], 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class Pyramid(nn.Module):
    """Strided, grouped, dilated and transposed convolutions with normalisation and resizing."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.SiLU(), nn.Conv2d(16, 16, 5, padding=4, dilation=2, groups=16),
                                  nn.GroupNorm(4, 16), nn.Hardswish())
        self.up = nn.ConvTranspose2d(16, 8, 4, 2, 1)

    def forward(self, x):
        y = self.down(x)
        big = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        return self.up(y), big, F.adaptive_avg_pool2d(y, 1), F.max_pool2d(y, 3, 2, 1)


class Pick(nn.Module):
    """Gathering, sorting and reductions."""

    def forward(self, x):
        values, where = torch.topk(x, 3, dim=-1)
        return values, where, torch.cumsum(x, 1), x.softmax(-1).argmax(-1), torch.where(x > 0, x, x.exp() - 1), x.std(-1), x.norm(dim=-1)


class Loop(nn.Module):
    """Control flow that depends on a value."""

    def forward(self, x, steps: int):
        for step in range(steps):
            x = torch.tanh(x * 1.5) + step if x.sum() > 0 else x.abs()
        return x


def batches(*shape, low=None):
    """Inputs of three batch sizes; integers below 100 where `low` is given."""
    for batch in (1, 2, 5):
        yield (torch.randn(batch, *shape) if low is None else torch.randint(low, 100, (batch, *shape)),)


MODULES = [
    ("attention", Attention, lambda: batches(7, 48)),
    ("lstm", lambda: Recurrent(nn.LSTM), lambda: batches(9, 20)),
    ("gru", lambda: Recurrent(nn.GRU), lambda: batches(9, 20)),
    ("rnn", lambda: Recurrent(nn.RNN), lambda: batches(9, 20)),
    ("decoder", Decoder, lambda: batches(11, low=0)),
    ("pyramid", Pyramid, lambda: batches(3, 34, 46)),
    ("pick", Pick, lambda: batches(6, 10)),
]


def export(module, example, path, dynamo):
    names = [f"x{i}" for i in range(len(example))]
    if dynamo:
        shapes = tuple({0: torch.export.Dim("batch")} for _ in example)
        torch.onnx.export(module, example, str(path), input_names=names, dynamo=True, dynamic_shapes=shapes, verbose=False)
    else:
        torch.onnx.export(module, example, str(path), input_names=names, dynamo=False, opset_version=17,
                          dynamic_axes={name: {0: "batch"} for name in names})


def check(program, module, inputs, path, variant, folder, plain):
    """Runs every input; `plain` collects, and later holds, the answers of the plain variant."""
    with Runner(program, path, variant, folder) as runner:
        for index, arguments in enumerate(inputs):
            with torch.no_grad():
                expected = module(*arguments)
            expected = expected if isinstance(expected, tuple) else (expected,)
            ours = runner.run({f"x{i}": a.numpy() for i, a in enumerate(arguments)})
            for (name, array), reference in zip(ours.items(), expected, strict=True):
                difference(name, array, reference.numpy(), TOLERANCE)
            if variant == PLAIN:
                plain[index] = ours
            elif variant.same_bits:
                check_same_bits(ours, plain[index], variant)


def check_loop(program, folder):
    """A scripted module: its loop and its branch are kept as Loop and If."""
    module, path = torch.jit.script(Loop()), f"{folder}/loop.onnx"
    torch.onnx.export(module, (torch.randn(2, 3), 2), path, input_names=["x", "steps"], dynamo=False, opset_version=17,
                      dynamic_axes={"x": {0: "batch"}})
    with Runner(program, path, PLAIN, folder) as runner:
        for steps in (0, 1, 5):
            x = torch.randn(4, 3)
            (ours,) = runner.run({"x": x.numpy(), "steps": np.array(steps, np.int64)}).values()
            difference(f"{steps} steps", ours, module(x, steps).numpy(), TOLERANCE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program model_runner")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    failures = []

    def attempt(what, action):
        try:
            action()
            print(f"{what:<40} agrees", flush=True)
        except Failure as error:
            failures.append(f"{what}: {error}")
            print(f"{what:<40} FAILED", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for name, make, inputs in MODULES:
            torch.manual_seed(1)
            module = make().eval()
            examples = list(inputs())
            for dynamo in (False, True):
                path, plain = f"{folder}/{name}.onnx", {}
                export(module, examples[1], path, dynamo)
                for variant in [PLAIN] + VARIANTS:
                    what = f"{name}, {'dynamo' if dynamo else 'TorchScript'}, {variant.name}"
                    attempt(what, lambda: check(args.program, module, examples, path, variant, folder, plain))
        attempt("loop", lambda: check_loop(args.program, folder))
    for line in failures:
        print("FAILED " + line)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
