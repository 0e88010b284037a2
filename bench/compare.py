#!/usr/bin/env python3
"""Measures whole models in Sardonyx and in other runtimes, in turns, and prints the ratios. `./dev bench` calls it.

    compare.py --program build/release/apps/sardonyx [--threads 1,2] [--rounds 3] [--peers ort,openvino] [--quick] [MODEL...]

Every measurement is a process of its own; rounds alternate between the runtimes, so that a busy machine disturbs all alike. The
figure is the median over rounds of each round's median."""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "models"))
import catalogue  # noqa: E402

TEXT = [{"batch": 1, "sequence": n} for n in (10, 30, 128)]
ROWS = {
    "sentiment": TEXT,
    "distilbert": TEXT + [{"batch": 1, "sequence": 512}, {"batch": 8, "sequence": 30}],
    "bert-base": [{"batch": 1, "sequence": 128}],
    "minilm-int8": [{"batch": 1, "sequence": n} for n in (16, 128)],
    "bilstm-text": [{"batch": 1, "sequence": 32}],
    "resnet50": [{"batch": 1}],
    "mobilenet_v2": [{"batch": 1}],
    "ocr-recognise": [{"x": (1, 3, 48, 320)}],
    "ocr-detect": [{"x": (1, 3, 640, 640)}],
}
QUICK = ["sentiment", "distilbert"]


def shape_of(name, shape, sizes):
    """-> the numbers for an input whose dimensions are numbers or symbols; `sizes` may name the whole input"""
    if name in sizes:
        return list(sizes[name])
    known = {"batch": sizes.get("batch", 1), "sequence": sizes.get("sequence", 1)}
    return [d if isinstance(d, int) else next((v for k, v in known.items() if str(d).startswith(k)), 1) for d in shape]


def feed(inputs):
    """inputs: [(name, type, shape)] -> arrays such as a text or image model expects"""
    import numpy as np
    rng, arrays = np.random.default_rng(7), {}
    for name, kind, shape in inputs:
        if "int64" in kind:
            ones, zeros = "mask" in name, "type" in name
            arrays[name] = np.ones(shape, np.int64) if ones else np.zeros(shape, np.int64) if zeros else rng.integers(1000, 20000, shape)
        else:
            arrays[name] = rng.standard_normal(shape).astype(np.float32)
    return arrays


def timed(run, seconds):
    """-> median ms over as many runs as fit, five at least, after three to warm up"""
    for _ in range(3):
        run()
    times, started = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - started < seconds:
        before = time.perf_counter()
        run()
        times.append((time.perf_counter() - before) * 1e3)
    return statistics.median(times)


def run_ort(model, sizes, threads, seconds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    started = time.perf_counter()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    load = time.perf_counter() - started
    arrays = feed([(i.name, i.type, shape_of(i.name, i.shape, sizes)) for i in session.get_inputs()])
    return {"median_ms": timed(lambda: session.run(None, arrays), seconds), "load_s": load}


def run_openvino(model, sizes, threads, seconds):
    import onnxruntime
    import openvino
    inputs = [(i.name, i.type, shape_of(i.name, i.shape, sizes))
              for i in onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()]
    started = time.perf_counter()
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    load = time.perf_counter() - started
    arrays = feed(inputs)
    return {"median_ms": timed(lambda: request.infer(arrays), seconds), "load_s": load}


PEERS = {"ort": run_ort, "openvino": run_openvino}


def in_own_process(peer, model, sizes, threads, seconds):
    job = json.dumps([peer, str(model), sizes, threads, seconds])
    done = subprocess.run([sys.executable, __file__, "--job", job], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{peer} failed on {model}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def job(text):
    import resource
    peer, model, sizes, threads, seconds = json.loads(text)
    result = PEERS[peer](model, sizes, threads, seconds)
    print(json.dumps(result | {"peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def run_sardonyx(program, model, sizes, threads, seconds):
    import onnx
    graph = onnx.load(str(model), load_external_data=False).graph
    weights = {t.name for t in graph.initializer}
    command = [program, "bench", str(model), "--threads", str(threads), "--no-operators", "--json"]
    for value in graph.input:
        if value.name not in weights:
            dims = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in value.type.tensor_type.shape.dim]
            command += ["--shape", f"{value.name}:" + "x".join(map(str, shape_of(value.name, dims, sizes)))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def compare(args, name, sizes, threads):
    """Measures one row in turns; -> {runtime: {figure: median over rounds}}"""
    model = known_models()[name].fetch()
    rounds = {}
    for _ in range(args.rounds):
        rounds.setdefault("sardonyx", []).append(run_sardonyx(args.program, model, sizes, threads, args.seconds))
        for peer in args.peers:
            rounds.setdefault(peer, []).append(in_own_process(peer, model, sizes, threads, args.seconds))
    return {who: {key: statistics.median(r[key] for r in results) for key in ("median_ms", "load_s", "peak_mib")}
            for who, results in rounds.items()}


def known_models():
    return {model.name: model for model in catalogue.MODELS}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="the program sardonyx")
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--seconds", default=2.0, type=float, help="how long a peer is timed in each round")
    parser.add_argument("--peers", default=["ort"], type=lambda text: text.split(","), help="of " + ", ".join(PEERS))
    parser.add_argument("--quick", action="store_true", help="only " + ", ".join(QUICK))
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("models", nargs="*", help="of " + ", ".join(ROWS))
    args = parser.parse_args()
    if args.job:
        return job(args.job)
    if not args.program:
        sys.exit("--program must name the program sardonyx")
    ratios = []
    head = " ".join(f"{peer:>9} {'ratio':>6}" for peer in args.peers)
    print(f"{'model':<14} {'shape':<22} {'threads':>7} {'sardonyx':>9} {head}   load s (ours, peers)   peak MiB (ours, peers)")
    for name in args.models or (QUICK if args.quick else ROWS):
        for sizes in ROWS[name]:
            for threads in args.threads:
                try:
                    row = compare(args, name, sizes, threads)
                except catalogue.Missing as reason:
                    print(f"{name:<14} not measured: {reason}")
                    continue
                ours = row["sardonyx"]
                peers = [row[peer] for peer in args.peers]
                ratios.append(min(peer["median_ms"] for peer in peers) / ours["median_ms"])
                cells = " ".join(f"{p['median_ms']:9.3f} {p['median_ms'] / ours['median_ms']:5.2f}x" for p in peers)
                loads = " ".join(f"{r['load_s']:.3f}" for r in [ours] + peers)
                peaks = " ".join(f"{r['peak_mib']:.0f}" for r in [ours] + peers)
                shape = re.sub(r"[{}' ]", "", str(sizes))
                print(f"{name:<14} {shape:<22} {threads:>7} {ours['median_ms']:9.3f} {cells}   {loads}   {peaks}", flush=True)
    if ratios:
        print(f"geometric mean against the best peer of each row: {statistics.geometric_mean(ratios):.2f}x, worst row {min(ratios):.2f}x")


if __name__ == "__main__":
    main()
