#!/usr/bin/env python3
"""Runs real models in Sardonyx and in ONNX Runtime and compares what they give.

    compare.py --program build/release/tests/model_runner [--full] [MODEL...]

Every model is run with several batch sizes and lengths. Sardonyx must be within the model's tolerance of ONNX Runtime with
optimisation on and off; its integers and strings must be equal; and the bits must be the same with one thread and two, and on every
instruction set that this processor has (docs/same-bits.md). Exit code: 0 all agree, 1 a model differs or fails, 77 a model cannot
be had here (said why)."""
import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

import catalogue

UNAVAILABLE = 77  # ctest's SKIP_RETURN_CODE


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to run a model in Sardonyx; `same_bits` says that it must give what the plain way gives, bit for bit."""
    name: str
    threads: int = 1
    opt_level: str = "all"
    isa: str = ""
    same_bits: bool = True


PLAIN = Variant("plain")
VARIANTS = [Variant("2 threads", threads=2), Variant("unoptimised", opt_level="disable", same_bits=False)]


def instruction_sets():
    """-> the levels of SARDONYX_ISA that this processor has, lowest first"""
    flags = set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":")[1].split())
            break
    needs = {
        "generic": set(),
        "avx2": {"avx2", "fma", "f16c"},
        "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
        "avx512vnni": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"},
    }
    return [name for name, wanted in needs.items() if wanted <= flags]


class Failure(Exception):
    pass


class Runner:
    """A process that holds one session and answers one request a line (tests/models/model_runner.cc)."""

    def __init__(self, program, model, variant, folder):
        environment = dict(os.environ)
        if variant.isa:
            environment["SARDONYX_ISA"] = variant.isa
        self.variant, self.folder = variant, pathlib.Path(folder)
        command = [program, str(model), "--threads", str(variant.threads), "--opt-level", variant.opt_level]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            self.answer("ready")
        except Failure:
            self.process.kill()
            raise

    def answer(self, expected):
        """-> the words of the next line after its verdict, which must be the expected one"""
        verdict, *words = self.process.stdout.readline().rstrip("\n").split("\t")
        if verdict != expected:
            raise Failure(" ".join(words) or f"{self.process.args[0]} ended with status {self.process.wait()}")
        return words

    def run(self, inputs):
        """-> {output name: array}"""
        for index, array in enumerate(inputs.values()):
            tensor = onnx.numpy_helper.from_array(np.asarray(array))
            (self.folder / f"in_{index}.pb").write_bytes(tensor.SerializeToString())
        self.process.stdin.write("\t".join([str(self.folder), *inputs]) + "\n")
        self.process.stdin.flush()
        words = self.answer("ok")
        read = lambda index: onnx.numpy_helper.to_array(onnx.load_tensor(str(self.folder / f"out_{index}.pb")))
        return {name: read(index) for index, name in enumerate(words)}

    def close(self):
        self.process.stdin.close()
        if (status := self.process.wait(timeout=60)) != 0:
            raise Failure(f"{self.process.args[0]} ended with status {status}")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
        else:
            self.process.kill()
            self.process.wait()


def difference(name, ours, reference, tolerance):
    """-> the largest difference relative to max(1, the largest reference value); raises where it passes the tolerance"""
    if ours.dtype != reference.dtype or ours.shape != reference.shape:
        raise Failure(f"{name} is {ours.dtype}{list(ours.shape)}; ONNX Runtime gives {reference.dtype}{list(reference.shape)}")
    if reference.dtype.kind != "f":
        if not np.array_equal(ours, reference):
            raise Failure(f"{name}: {np.sum(ours != reference)} of {reference.size} values are not ONNX Runtime's")
        return 0.0
    if reference.size == 0:
        return 0.0
    if not np.array_equal(np.isfinite(ours), np.isfinite(reference)):
        raise Failure(f"{name}: infinities or NaN where ONNX Runtime has none, or the other way round")
    finite = np.isfinite(reference)
    ours, reference = ours[finite].astype(np.float64), reference[finite].astype(np.float64)
    worst = float(np.abs(ours - reference).max(initial=0) / max(1.0, np.abs(reference).max(initial=0)))
    if not worst <= tolerance:
        raise Failure(f"{name} differs from ONNX Runtime by {worst:.3g}, more than {tolerance:g}")
    return worst


def check_outputs(ours, reference, tolerance):
    if list(ours) != list(reference):
        raise Failure(f"outputs are {list(ours)}; ONNX Runtime has {list(reference)}")
    return max(difference(name, ours[name], reference[name], tolerance) for name in reference)


def check_same_bits(ours, plain, variant):
    for name, array in plain.items():
        if ours[name].dtype != array.dtype or ours[name].shape != array.shape or ours[name].tobytes() != array.tobytes():
            raise Failure(f"{name} on {variant.name} has other bits than on one thread with the best instruction set")


class Reference:
    """ONNX Runtime's answers, with its semantics-preserving optimisations only: the extended ones round the activations in front
    of int8 weights."""

    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1  # more of them spin, which a busy machine pays for
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]

    def run(self, inputs):
        return dict(zip(self.names, self.session.run(None, inputs)))


def stream_outputs(run, stream, seconds):
    """Feeds audio chunk by chunk, each with the end of the chunk before, and hands `stateN` back as `state`.
    -> (probabilities [steps], last state)"""
    audio = np.concatenate([np.zeros(stream.context, np.float32), catalogue.speech(stream.rate, seconds)])
    state, probabilities = np.zeros((2, 1, 128), np.float32), []
    for start in range(0, len(audio) - stream.context - stream.chunk + 1, stream.chunk):
        inputs = {"input": audio[start:start + stream.context + stream.chunk][None], "state": state}
        if stream.with_rate:
            inputs["sr"] = np.array(stream.rate, np.int64)
        outputs = run(inputs)
        state = outputs["stateN"]
        probabilities.append(outputs["output"].ravel())
    return {"probabilities": np.concatenate(probabilities), "stateN": state}


class Comparison:
    """One model: collects lines for the table and failures."""

    def __init__(self, model, program, full):
        self.model, self.program, self.full = model, program, full
        self.failures, self.worst, self.compared = [], 0.0, 0

    def attempt(self, what, check):
        """Runs a check; -> what it gives, or None where it fails"""
        try:
            result = check()
            self.compared += 1
            return result
        except (Failure, subprocess.TimeoutExpired, BrokenPipeError) as error:
            self.failures.append(f"{self.model.name}, {what}: {error}")
            return None

    def variants(self):
        levels = instruction_sets()[:-1]
        if self.model.heavy and not self.full:
            levels = [level for level in levels if level != "generic"]
        return VARIANTS + [Variant(level, isa=level) for level in levels]

    def cases_of(self, variant):
        """Emulated fused multiply-add is slow: the generic level runs the first case only of heavy models."""
        cases = [case for case in self.model.cases if self.full or not case.full]
        few = variant.isa == "generic" or (variant.isa and not self.full)
        return cases[:1] if few else cases

    def run(self):
        path = self.model.fetch()
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            reference = Reference(path)
            expected, plain = {}, {}
            for variant in [PLAIN] + self.variants():
                self.attempt(variant.name, lambda: self.run_variant(variant, path, folder, reference, expected, plain))
                if not plain:
                    return  # nothing to compare the other variants with

    def run_variant(self, variant, path, folder, reference, expected, plain):
        with Runner(self.program, path, variant, folder) as runner:
            for case in self.cases_of(variant):
                inputs = case.inputs()
                if case.name not in expected:
                    expected[case.name] = reference.run(inputs)
                ours = self.attempt(f"{case.name}, {variant.name}", lambda: self.checked(runner.run(inputs), expected[case.name]))
                if variant == PLAIN:
                    plain |= {case.name: ours} if ours else {}
                elif ours and plain.get(case.name) and variant.same_bits:
                    self.attempt(f"{case.name}, {variant.name}", lambda: check_same_bits(ours, plain[case.name], variant))
            if variant == PLAIN:
                self.run_streams(runner, reference)

    def checked(self, ours, expected):
        self.worst = max(self.worst, check_outputs(ours, expected, self.model.tolerance))
        return ours

    def run_streams(self, runner, reference):
        for stream in self.model.streams:
            def compare():
                expected = stream_outputs(reference.run, stream, 60)
                spread = np.ptp(expected["probabilities"])
                if spread < 0.1:
                    raise Failure(f"the audio moves the reference's probability by {spread:.3f} only: it tests nothing")
                return self.checked(stream_outputs(runner.run, stream, 60), expected)
            self.attempt(f"a minute at {stream.rate} Hz", compare)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program model_runner")
    parser.add_argument("--full", action="store_true", help="larger shapes, every case on every instruction set")
    parser.add_argument("--expect-list", help="check that these names, separated by semicolons, are all models there are")
    parser.add_argument("models", nargs="*", help="which models (default: all)")
    args = parser.parse_args()
    known = {model.name: model for model in catalogue.MODELS}
    if args.expect_list:
        return None if args.expect_list.split(";") == list(known) else sys.exit(f"CMakeLists.txt must list {' '.join(known)}")
    unknown = [name for name in args.models if name not in known]
    if unknown:
        sys.exit(f"no model {', '.join(unknown)}; there are {', '.join(known)}")
    failures, missing = [], []
    for name in args.models or known:
        started = time.time()
        comparison = Comparison(known[name], args.program, args.full)
        try:
            comparison.run()
        except catalogue.Missing as reason:
            missing.append(name)
            print(f"{name:<22} not compared: {reason}", flush=True)
            continue
        failures += comparison.failures
        verdict = f"{len(comparison.failures)} failed" if comparison.failures else "agrees"
        print(f"{name:<22} {verdict:<10} {comparison.compared:3} checks, largest difference {comparison.worst:.2e}, "
              f"{time.time() - started:.1f} s", flush=True)
    for line in failures:
        print("FAILED " + line)
    sys.exit(1 if failures else UNAVAILABLE if missing else 0)


if __name__ == "__main__":
    main()
