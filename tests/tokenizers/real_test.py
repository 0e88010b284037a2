#!/usr/bin/env python3
"""Compares tokenizers of well-known models with the reference.

usage: real_test.py --dump EXECUTABLE --folder FOLDER [--only NAME] [--count N] [--code-points]

N is how many random texts each family of tokenizers is given, shared among the tokenizers of the family.

FOLDER holds one folder per model with its tokenizer.json. A folder that does not exist is reported and skipped over, since
the files are large and not part of the repository.
"""

import argparse
import collections
import json
import os
import pathlib
import sys
import time

os.environ["RUST_BACKTRACE"] = "0"

from comparison import Comparison, all_code_points, compare_changes, compare_everything, finish
from dump_client import Dump
from texts import TextMaker


def family(path):
    """The kind of model, and whether it works on bytes."""
    description = json.loads(path.read_text())
    model = description["model"]
    kind = model.get("type", "BPE" if "merges" in model else "Unigram" if isinstance(model["vocab"], list) else "WordPiece")
    return kind + (" on bytes" if '"ByteLevel"' in json.dumps(description["pre_tokenizer"]) else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--code-points", action="store_true")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        print(f"no folder '{arguments.folder}': nothing compared")
        return 77
    dump, comparisons = Dump(arguments.dump), []
    paths = [path for path in sorted(arguments.folder.glob("*/tokenizer.json")) if arguments.only in path.parent.name]
    families = collections.Counter(map(family, paths))
    for path in paths:
        name = path.parent.name
        start = time.monotonic()
        comparison = Comparison(dump, path, name)
        added = [token.content for token in comparison.reference.get_added_tokens_decoder().values()][:20]
        maker = TextMaker(f"{arguments.seed} {name}", added)
        share = arguments.count // families[family(path)]
        while comparison.strings < share:
            compare_everything(comparison, maker, min(share // 2, 10000))
        if arguments.code_points:
            comparison.compare(all_code_points())
        compare_changes(comparison, maker, 100)
        comparisons.append(comparison)
        print(
            f"{name} ({family(path)}): {comparison.strings} texts, {comparison.differences} differences,"
            f" {comparison.reference_errors} reference errors, {time.monotonic() - start:.1f} s"
        )
    dump.close()
    return finish(comparisons, "real tokenizers")


if __name__ == "__main__":
    sys.exit(main())
