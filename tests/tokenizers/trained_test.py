#!/usr/bin/env python3
"""Compares tokenizers that the reference trains on the spot, in which every component and option occurs.

usage: trained_test.py --dump EXECUTABLE [--first N] [--tokenizers N] [--count N] [--code-points]
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

os.environ["RUST_BACKTRACE"] = "0"

from comparison import Comparison, all_code_points, compare_changes, compare_everything, finish, shortened
from dump_client import Dump, DumpError
from families import make_tokenizer
from texts import TextMaker


def compare_tokenizer(dump, folder, number, arguments):
    try:
        name, text, added = make_tokenizer(number)
    except BaseException as error:  # the reference's trainers panic on some corpora
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        print(f"{number}: the reference cannot train it: {str(error)[:100]}")
        return None
    path = folder / f"{number}.json"
    path.write_text(text)
    try:
        comparison = Comparison(dump, path, name)
    except DumpError as error:
        print(f"DIFFERENCE {name}: we cannot load it: {error}")
        raise
    maker = TextMaker(f"texts {number}", added)
    comparison.compare([shortened(maker.any_input()) for _ in range(20)], keep_options=True)
    compare_everything(comparison, maker, arguments.count)
    if number < arguments.code_points:
        comparison.compare(all_code_points())
    compare_changes(comparison, maker, 20)
    if comparison.differences:
        print(f"  normalizer {comparison.reference.normalizer}\n  pre-tokenizer {comparison.reference.pre_tokenizer}")
        print(f"  post-processor {comparison.reference.post_processor}\n  decoder {comparison.reference.decoder}")
        print(f"  {str(comparison.reference.model)[:200]}")
    return comparison


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tokenizers", type=int, default=60)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--code-points", type=int, default=0, help="send every code point through the first so many tokenizers")
    parser.add_argument("--keep", help="folder to leave the tokenizers in")
    arguments = parser.parse_args()
    dump, comparisons = Dump(arguments.dump), []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.keep or temporary)
        folder.mkdir(exist_ok=True)
        start = time.monotonic()
        for number in range(arguments.first, arguments.first + arguments.tokenizers):
            try:
                comparison = compare_tokenizer(dump, folder, number, arguments)
            except Exception:
                print(f"tokenizer {number} (run it alone with --first {number} --tokenizers 1):")
                raise
            if comparison:
                comparisons.append(comparison)
            if (number + 1) % 20 == 0:
                strings, differences = (sum(getattr(c, name) for c in comparisons) for name in ("strings", "differences"))
                print(f"{number + 1 - arguments.first} tokenizers, {strings} texts, {differences} differences,"
                      f" {time.monotonic() - start:.0f} s", flush=True)
    dump.close()
    return finish(comparisons, "trained tokenizers")


if __name__ == "__main__":
    sys.exit(main())
