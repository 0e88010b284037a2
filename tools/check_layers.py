#!/usr/bin/env python3
"""Checks that no source file includes from a layer that its own must not know (ARCHITECTURE.md, "Layers").

    tools/check_layers.py [ROOT]        tools/check_layers.py --self-test

Prints each include that breaks a rule, with the rule, and exits 1. Needs Python's standard library only."""
import pathlib
import re
import sys
import tempfile

# folder -> folders that it may include from, and whatever those may. The longest folder that holds a file is its layer.
LAYERS = {
    "include/sardonyx": [],
    "src/base": ["include/sardonyx"],
    "src/kernels": ["src/base"],
    "src/graph": ["src/base"],
    "src/ops": ["src/graph"],
    "src/onnx": ["src/ops"],
    "src/optimizer": ["src/ops"],
    "src/provider": ["src/ops"],
    "src/provider/cpu": ["src/provider", "src/kernels"],
    "src/provider/sim": ["src/provider/cpu"],
    "src/provider/cuda": ["src/provider"],
    "src/runtime": ["src/optimizer", "src/provider"],
    "src/api": ["src/onnx", "src/runtime", "src/provider/cpu", "src/provider/sim"],
    "text": ["src/base"],
    "text/pipeline": ["src/api", "text"],
    "quant": ["src/api"],
    "apps": ["src/api", "text/pipeline", "quant"],
    "python": ["src/api", "text/pipeline", "quant"],
    "tests": ["apps", "python"],
    "bench": ["apps", "python"],
}
INCLUDE_ROOTS = ["include", "src", "."]
# Standard headers that cost every includer too much compile time to stand in a header.
HEAVY = {"regex", "iostream", "format"}
MOST_LINES = 700
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
STANDARD = re.compile(r"[a-z_0-9]+")


def allowed(layer):
    """-> every layer that files of this one may include from, itself among them"""
    seen, todo = set(), [layer]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += LAYERS[at]
    return seen


def layer_of(path):
    """-> the layer of a path relative to the root, or None"""
    holding = [layer for layer in LAYERS if path.as_posix().startswith(layer + "/")]
    return max(holding, key=len, default=None)


def resolve(root, including, name):
    """-> the included file relative to the root, or None where there is no such file"""
    for base in [including.parent] + [pathlib.Path(r) for r in INCLUDE_ROOTS]:
        if (root / base / name).is_file():
            return (root / base / name).resolve().relative_to(root.resolve())
    return None


def faults_of_include(root, path, layer, quoted, angled):
    if angled:
        if path.suffix == ".h" and angled in HEAVY:
            yield f"includes <{angled}>, which is too slow to compile for a header"
        if layer == "include/sardonyx" and not STANDARD.fullmatch(angled):
            yield f"includes <{angled}>: public headers include the standard library and each other only"
        return
    target = resolve(root, path, quoted)
    if target is None:
        yield f'includes "{quoted}", which is no file of this repository (write other libraries\' headers as <{quoted}>)'
        return
    target_layer = layer_of(target)
    if target_layer not in allowed(layer):
        direct = ", ".join(LAYERS[layer]) or "nothing"
        yield f'includes "{quoted}" of {target_layer}; {layer} may include from {direct} and what those may'


def check(root):
    """-> (faults, warnings), lists of lines"""
    faults, warnings = [], []
    files = sorted(p for top in {layer.split("/")[0] for layer in LAYERS} for p in (root / top).rglob("*") if p.suffix in (".h", ".cc"))
    for file in files:
        path, text = file.relative_to(root), file.read_text(encoding="utf-8", errors="replace")
        layer = layer_of(path)
        if layer is None:
            faults.append(f"{path}: belongs to no layer; name its folder in tools/check_layers.py and ARCHITECTURE.md")
            continue
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            faults += [f"{path}:{line}: {f}" for f in faults_of_include(root, path, layer, match[1], match[2])]
        if (lines := text.count("\n")) > MOST_LINES:
            warnings.append(f"{path}: {lines} lines; a file that passes 500 is asking to be two")
    return faults, warnings


def self_test():
    """A tree with one fault of each kind: all are found, nothing else is."""
    tree = {
        "include/sardonyx/a.h": '#include <vector>\n#include <fmt/core.h>\n',
        "src/base/b.h": '#include "sardonyx/a.h"\n#include <regex>\n',
        "src/graph/c.h": '#include "base/b.h"\n  #  include "ops/d.h"\n',
        "src/ops/d.h": '#include "graph/c.h"\n',
        "src/provider/cpu/e.cc": '#include "provider/f.h"\n#include "kernels/g.h"\n#include "runtime/h.h"\n',
        "src/provider/f.h": '#include "provider/cpu/e.cc"\n',
        "src/kernels/g.h": '#include "gone.h"\n',
        "src/runtime/h.h": "",
        "src/stray.cc": "",
        "tests/i.cc": '#include "runtime/h.h"\n#include "text/j.h"\n',
        "text/j.h": '#include "base/b.h"\n' + "\n" * MOST_LINES,
    }
    expected = ["include/sardonyx/a.h:2", "src/base/b.h:2", "src/graph/c.h:2", "src/kernels/g.h:1", "src/provider/cpu/e.cc:3",
                "src/provider/f.h:1", "src/stray.cc"]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        faults, warnings = check(root)
    found = sorted(f.split(": ")[0] for f in faults)
    if found != expected or len(warnings) != 1:
        sys.exit("self test failed: expected faults at\n  " + "\n  ".join(expected) + "\nfound\n  " + "\n  ".join(faults + warnings))
    print(f"self test: {len(expected)} of {len(expected)} planted faults found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    faults, warnings = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent))
    for line in warnings:
        print("warning: " + line)
    if faults:
        sys.exit("\n".join(faults))
    print("layers: every include is allowed")


if __name__ == "__main__":
    main()
