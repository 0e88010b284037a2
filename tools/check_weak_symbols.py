#!/usr/bin/env python3
"""Fails when an object compiled for one instruction set defines a symbol that the linker may share with other objects.

An inline function or template instance outside the variant's own namespace is emitted as a weak symbol; the linker keeps one
copy for the whole program, perhaps the one with AVX-512 instructions. See src/kernels/simd/vec.h.
"""

import argparse
import re
import subprocess
import sys


def shared_symbols(nm: str, variant: str, objects: list[str]) -> list[str]:
    """Weak, unique and common symbols whose name lies outside sardonyx::kernels::<variant>."""
    own = re.compile(rf"^_Z\w*?N\w*?8sardonyx7kernels{len(variant)}{variant}")
    found = []
    for path in objects:
        listing = subprocess.run([nm, "--defined-only", path], check=True, capture_output=True, text=True).stdout
        for line in listing.splitlines():
            fields = line.split()
            kind, name = fields[-2], fields[-1]
            # DW.ref.* are pointers of the exception tables, which sanitizers need: data, the same in every copy.
            if kind in "WVuCwv" and not own.match(name) and not name.startswith("DW.ref."):
                found.append(f"{path}: {name}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--variant", required=True, help="namespace of the variant, such as avx2")
    parser.add_argument("objects", nargs="+")
    args = parser.parse_args()
    found = shared_symbols(args.nm, args.variant, args.objects)
    for line in found:
        print(f"shared symbol outside sardonyx::kernels::{args.variant}: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
