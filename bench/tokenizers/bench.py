#!/usr/bin/env python3
"""Measures encode_batch and loading beside the PyPI package `tokenizers`, both on one thread of one CPU, in turns within one run.
`./dev bench tokenizers` calls it.

usage: bench.py --build DIR [--folder TOKENIZERS] [--rounds N] [--only NAMES] [--document-mb N] [--write docs/tokenizers.md]

Times are CPU seconds of the process, so that other work on the machine disturbs neither. Texts are the docstrings of Python's
standard library: sentences, paragraphs, and one document made of all of them again and again. The tokenizers are those of
well-known models where FOLDER has them; else the package trains one of each kind on the same texts. Loading is measured on them
too, and on a Unigram one of 250,000 pieces made on the spot.
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

import tokenizers  # noqa: E402
import update_docs  # noqa: E402
from dump_client import Dump  # noqa: E402
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers  # noqa: E402

FAMILIES = {
    "bert-base-uncased": "BERT, 30,522 words",
    "bert-base-multilingual-uncased": "BERT, 105,879 words",
    "gpt2": "byte-level BPE",
    "roberta-base": "byte-level BPE, RoBERTa",
    "clip": "byte-level BPE, CLIP",
    "phi-3-mini": "BPE with byte fallback",
    "t5-small": "Unigram, 32,100 pieces",
}


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


def distinct(texts):
    return list(dict.fromkeys(texts))


def texts(document_mb):
    document_bytes = int(document_mb * 1e6)
    corpus = docstrings()
    random.Random(1).shuffle(corpus)
    paragraphs = distinct(p for text in corpus for p in re.split(r"\n\s*\n", text) if 200 <= len(p) <= 1500)
    parts = (s.strip() for text in corpus for s in re.split(r"(?<=[.!?])\s", text.replace("\n", " ")))
    sentences = distinct(s for s in parts if 20 <= len(s) <= 160)
    document = "\n\n".join(corpus)
    document = (document * (document_bytes // len(document) + 1))[:document_bytes]
    return {"sentences": sentences, "paragraphs": paragraphs, f"document of {document_mb:g} MB": [document]}


def measure(dump, reference, batch, rounds):
    """Median seconds per text of both, and the median ratio; they take turns. Each round has texts of its own, as a service
    has: the package answers a short text that it has just seen from a cache."""
    ours, theirs, ratios = [], [], []
    for i in range(rounds):
        part = batch[i::rounds] if len(batch) > 1 else batch
        mine = dump.time(part, 1)["seconds"]
        start = time.process_time()
        encodings = reference.encode_batch(part)
        elapsed = time.process_time() - start
        del encodings
        ours.append(mine / len(part))
        theirs.append(elapsed / len(part))
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


def trained(folder, corpus):
    """Where no well-known tokenizers are at hand: a BERT-like, a byte-level BPE and a Unigram one, {name: path}."""
    metaspace = pre_tokenizers.Metaspace()
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    kinds = {
        "trained-bert": (models.WordPiece(unk_token="[UNK]"), normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(),
                         trainers.WordPieceTrainer(vocab_size=30000, special_tokens=["[UNK]"], show_progress=False)),
        "trained-bpe": (models.BPE(), None, byte_level, trainers.BpeTrainer(
            vocab_size=30000, initial_alphabet=byte_level.alphabet(), show_progress=False)),
        "trained-unigram": (models.Unigram(), normalizers.NFKC(), metaspace, trainers.UnigramTrainer(
            vocab_size=8000, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)),
    }  # fmt: skip
    paths = {}
    for name, (model, normalizer, pre_tokenizer, trainer) in kinds.items():
        tokenizer = Tokenizer(model)
        if normalizer:
            tokenizer.normalizer = normalizer
        tokenizer.pre_tokenizer = pre_tokenizer
        tokenizer.train_from_iterator(corpus, trainer)
        paths[name] = pathlib.Path(folder) / f"{name}.json"
        tokenizer.save(str(paths[name]))
    return paths


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


class Bench:
    def __init__(self, dump, rounds):
        self.dump, self.rounds, self.rows = dump, rounds, []

    def add(self, tokenizer, what, ours, theirs, ratio):
        self.rows.append({"tokenizer": tokenizer, "what": what, "ours": ours, "reference": theirs, "ratio": ratio})
        show(self.rows[-1])

    def load(self, name, path):
        ours, theirs = measure_load(self.dump, path, max(self.rounds, 3))
        self.add(name, "load", ours, theirs, theirs / ours)

    def encode(self, name, path, batches):
        self.dump.load(path)
        reference = Tokenizer.from_file(str(path))
        for what, batch in batches.items():
            rounds = self.rounds if len(batch) > 1 else max(self.rounds // 3, 2)
            ours, theirs, ratio = measure(self.dump, reference, batch, rounds)
            self.add(name, what, ours, theirs, ratio)


def cpu_model():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "an unknown processor")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT.parent / "shared" / "tokenizers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--document-mb", type=float, default=10)
    parser.add_argument("--write", type=pathlib.Path, help="the page whose table of speeds is replaced")
    arguments = parser.parse_args()
    batches = texts(arguments.document_mb)
    one_cpu()
    bench = Bench(Dump(str(arguments.build / "tests" / "tokenizers" / "tokenizer_dump")), arguments.rounds)
    wanted = lambda name: any(only in name for only in arguments.only.split(","))
    with tempfile.TemporaryDirectory() as temporary:
        paths = {name: arguments.folder / name / "tokenizer.json" for name in FAMILIES}
        paths = {name: path for name, path in paths.items() if path.exists()} or trained(temporary, docstrings())
        for name, path in paths.items():
            if wanted(name):
                label = f"{name} ({FAMILIES[name]})" if name in FAMILIES else name
                bench.load(label, path)
                bench.encode(label, path, batches)
        if wanted("unigram-250k"):
            bench.load("Unigram, 250,000 random pieces", large_unigram(temporary))
    bench.dump.close()
    if not bench.rows:
        print(f"--only '{arguments.only}' names none of the tokenizers")
        return 1
    if arguments.write:
        note = f"Measured on one core of {cpu_model()} with tokenizers {tokenizers.__version__}."
        update_docs.write_speeds(arguments.write, bench.rows, note)
    return 0


if __name__ == "__main__":
    sys.exit(main())
