#!/usr/bin/env python3
"""Classifies the built-in model's held-out sentences with `sardonyx classify`, text to label, and compares with Hugging Face
tokenizers and ONNX Runtime sentence by sentence, and with the accuracy that the model card states.

    held_out.py --program build/release/apps/sardonyx"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tokenizers

import compare

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "models" / "sentiment"
sys.path.insert(0, str(FOLDER))
import dataset  # noqa: E402

LARGEST_SCORE_DIFFERENCE = 1e-4


def ours(program, texts):
    """-> [(label, score)]"""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write("".join(text + "\n" for text in texts))
        file.flush()
        done = subprocess.run([program, "classify", str(FOLDER), "--file", file.name, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sardonyx classify ended with status {done.returncode}:\n{done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [(answer["label"], answer["score"]) for answer in answers]


def reference(texts):
    """-> [(label, score)], one text at a time"""
    tokenizer = tokenizers.Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    session = compare.Reference(FOLDER / "model.onnx").session
    labels = json.loads((FOLDER / "config.json").read_text())["id2label"]
    for text in texts:
        encoding = tokenizer.encode(text)
        inputs = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
        (logits,) = session.run(["logits"], {name: np.array([values], np.int64) for name, values in inputs.items()})
        shares = np.exp(logits[0] - logits[0].max())
        shares /= shares.sum()
        yield labels[str(int(shares.argmax()))], float(shares.max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program sardonyx")
    args = parser.parse_args()
    metrics = json.loads((FOLDER / "metrics.json").read_text())
    _, held_out = dataset.load_split(metrics["seed"])
    texts = [text for text, _ in held_out]
    answers = ours(args.program, texts)
    failures = [] if len(answers) == len(texts) else [f"{len(answers)} answers to {len(texts)} texts"]
    worst = 0.0
    for text, (label, score), (expected_label, expected_score) in zip(texts, answers, reference(texts)):
        worst = max(worst, abs(score - expected_score))
        if label != expected_label or abs(score - expected_score) > LARGEST_SCORE_DIFFERENCE:
            failures.append(f"{text!r}: {label} {score}, the reference says {expected_label} {expected_score}")
    right = sum(label == ["NEGATIVE", "POSITIVE"][wanted] for (label, _), (_, wanted) in zip(answers, held_out))
    accuracy = right / len(held_out)
    if abs(accuracy - metrics["accuracy_int8_weights"]) > 5e-5:
        failures.append(f"accuracy {accuracy:.4f}; metrics.json says {metrics['accuracy_int8_weights']}")
    print(f"{len(answers)} sentences, accuracy {accuracy:.4f}, largest difference of a score {worst:.2e}")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
