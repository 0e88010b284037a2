#!/usr/bin/env python3
"""Compares tokenizers of well-known models with the reference.

usage: real_test.py --dump EXECUTABLE --folder FOLDER [--only NAME] [--count N] [--code-points]

FOLDER holds one folder per model with its tokenizer.json. A folder that does not exist is reported and skipped over, since
the files are large and not part of the repository.
"""

import argparse
import os
import pathlib
import sys
import time

os.environ["RUST_BACKTRACE"] = "0"

from comparison import Comparison, all_code_points, compare_everything, finish
from dump_client import Dump
from texts import TextMaker


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
    for path in sorted(arguments.folder.glob("*/tokenizer.json")):
        name = path.parent.name
        if arguments.only not in name:
            continue
        start = time.monotonic()
        comparison = Comparison(dump, path, name)
        added = [token.content for token in comparison.reference.get_added_tokens_decoder().values()][:20]
        maker = TextMaker(f"{arguments.seed} {name}", added)
        for _ in range(0, arguments.count, 10000):
            compare_everything(comparison, maker, min(arguments.count, 10000))
        if arguments.code_points:
            comparison.compare(all_code_points())
        comparisons.append(comparison)
        print(
            f"{name}: {comparison.compared} compared, {comparison.differences} differences,"
            f" {comparison.reference_errors} reference errors, {time.monotonic() - start:.1f} s"
        )
    dump.close()
    return finish(comparisons, "real tokenizers")


if __name__ == "__main__":
    sys.exit(main())
