#!/usr/bin/env python3
"""Measures encode_batch against the PyPI package `tokenizers`, both on one thread of one CPU, in turns within one run.

Times are CPU seconds of the process, so that other work on the machine disturbs neither.

usage: bench.py --build DIR [--folder TOKENIZERS] [--rounds N] [--only NAME] [--document-mb N] [--json FILE]

Texts are the docstrings of Python's standard library: sentences, paragraphs, and one document made of all of them again and
again. Loading is measured on the same tokenizers and on a Unigram one of 250,000 pieces made on the spot.
"""

import argparse
import importlib
import inspect
import json
import os
import pathlib
import pkgutil
import random
import re
import statistics
import sys
import tempfile
import time
import warnings

os.environ["TOKENIZERS_PARALLELISM"] = "false"
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tokenizers"))

from dump_client import Dump  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

FAMILIES = [
    ("bert-base-uncased", "BERT"),
    ("bert-base-multilingual-uncased", "BERT, 105,879 words"),
    ("gpt2", "byte-level BPE"),
    ("roberta-base", "byte-level BPE, RoBERTa"),
    ("clip", "byte-level BPE, CLIP"),
    ("phi-3-mini", "BPE with byte fallback"),
    ("t5-small", "Unigram"),
]


def docstrings():
    """Docstrings of modules, classes and functions that can be imported without effects."""
    warnings.simplefilter("ignore")
    found = []
    skipped = {"antigravity", "this", "idlelib", "test", "turtle", "tkinter", "lib2to3", "turtledemo"}
    for module in sorted(pkgutil.iter_modules(), key=lambda m: m.name):
        path = str(getattr(module.module_finder, "path", ""))
        if module.name in skipped or "site-packages" in path or "lib/python" not in path or module.name.startswith("_"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except Exception:
            continue
        for _, item in sorted(inspect.getmembers(loaded), key=lambda pair: pair[0]):
            if inspect.isclass(item) or inspect.isfunction(item):
                found.append(inspect.getdoc(item) or "")
        found.append(loaded.__doc__ or "")
    return sorted({text for text in found if len(text) > 40})


def texts(document_bytes):
    corpus = docstrings()
    random.Random(1).shuffle(corpus)
    paragraphs = [p for text in corpus for p in re.split(r"\n\s*\n", text) if 200 <= len(p) <= 1500][:400]
    sentences = [s.strip() for p in paragraphs for s in re.split(r"(?<=[.!?])\s", p.replace("\n", " ")) if 20 <= len(s) <= 160]
    document = "\n\n".join(corpus)
    document = (document * (document_bytes // len(document) + 1))[:document_bytes]
    return {"sentences": sentences[:1000], "paragraphs": paragraphs, "document": [document]}


def measure(dump, reference, batch, rounds):
    """Median seconds per batch of both, and the median ratio; rounds alternate."""
    ours, theirs, ratios = [], [], []
    for _ in range(rounds):
        mine = dump.time(batch, 1)["seconds"]
        start = time.process_time()
        encodings = reference.encode_batch(batch)
        elapsed = time.process_time() - start
        del encodings
        ours.append(mine)
        theirs.append(elapsed)
        ratios.append(elapsed / mine)
    return statistics.median(ours), statistics.median(theirs), statistics.median(ratios)


def measure_load(dump, path, rounds):
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(dump.load(path)["seconds"])
        start = time.process_time()
        Tokenizer.from_file(str(path))
        theirs.append(time.process_time() - start)
    return statistics.median(ours), statistics.median(theirs)


def large_unigram(folder, pieces=250_000):
    """A Unigram tokenizer of many pieces, like those of multilingual models."""
    rng = random.Random(2)
    letters = "etaoinsrhldcumfpgwybvkxjqz" + "абвгдежзиклмнопрстуфхцчшыья" + "éèüöäßçñ" + "的是不我一有大在人了中到"
    vocab, seen = [["<unk>", 0.0], ["▁", -2.0]], {"<unk>", "▁"}
    while len(vocab) < pieces:
        word = rng.choice(("▁", "")) + "".join(rng.choices(letters, k=rng.randint(2, 10)))
        if word not in seen:
            seen.add(word)
            vocab.append([word, -rng.uniform(3, 14)])
    description = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": None, "decoder": None, "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False},
    }  # fmt: skip
    path = pathlib.Path(folder) / "unigram-250k.json"
    path.write_text(json.dumps(description, ensure_ascii=False))
    return path


def one_cpu():
    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})


def show(row):
    unit, scale = ("ms", 1e3) if row["ours"] > 1e-3 else ("us", 1e6)
    print(
        f"{row['tokenizer']:32} {row['what']:20} ours {row['ours'] * scale:9.2f} {unit}"
        f"   reference {row['reference'] * scale:9.2f} {unit}   {row['ratio']:5.1f}x",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT.parent / "shared" / "tokenizers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--document-mb", type=float, default=10)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    batches = texts(int(arguments.document_mb * 1e6))
    one_cpu()
    dump, rows = Dump(str(arguments.build / "tests" / "tokenizers" / "tokenizer_dump")), []

    def add(tokenizer, what, ours, theirs, ratio):
        rows.append({"tokenizer": tokenizer, "what": what, "ours": ours, "reference": theirs, "ratio": ratio})
        show(rows[-1])

    for name, _ in FAMILIES:
        path = arguments.folder / name / "tokenizer.json"
        if not path.exists() or not any(only in name for only in arguments.only.split(",")):
            continue
        ours, theirs = measure_load(dump, path, 3)
        add(name, "load", ours, theirs, theirs / ours)
        dump.load(path)
        reference = Tokenizer.from_file(str(path))
        for what, batch in batches.items():
            rounds = arguments.rounds if what != "document" else max(arguments.rounds // 3, 2)
            ours, theirs, ratio = measure(dump, reference, batch, rounds)
            add(name, f"{what} of {arguments.document_mb:g} MB" if what == "document" else what, ours / len(batch), theirs / len(batch), ratio)
    if any(only in "unigram-250k" for only in arguments.only.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = measure_load(dump, large_unigram(folder), 3)
            add("unigram-250k", "load", ours, theirs, theirs / ours)
    dump.close()
    if not rows:
        print(f"no tokenizers in '{arguments.folder}'")
        return 1
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
