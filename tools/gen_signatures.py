#!/usr/bin/env python3
"""Writes src/ops/signatures_data.cc: the interface of every standard operator in its newest version.

Run with the Python that has the onnx package (./dev makes one) whenever the package moves on:

    tools/gen_signatures.py > src/ops/signatures_data.cc
"""

import onnx
import onnx.defs

DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")

# One operator a line, fields separated by "|":
#   domain|name|since|flags|inputs|outputs|type variables|attributes
# A port is name:type and a mark: "?" optional, "*N" variadic with at least N, "~N" the same with a type for each.
# A type variable is name=number of its line in the list of type sets. An attribute is name:kind and "!" where required.
HEADER = """// Written by tools/gen_signatures.py from onnx {version}; not edited by hand. The format is described there.
#include "ops/signatures_data.h"

namespace sardonyx::ops {{

"""


def port(parameter) -> str:
    option = parameter.option.name
    mark = ""
    if option == "Optional":
        mark = "?"
    elif option == "Variadic":
        mark = ("*" if parameter.is_homogeneous else "~") + str(parameter.min_arity)
    return f"{parameter.name}:{parameter.type_str}{mark}"


def attribute(name: str, info) -> str:
    return f"{name}:{info.type.name.lower()}" + ("!" if info.required else "")


def line(schema, sets: dict) -> str:
    variables = []
    for constraint in schema.type_constraints:
        types = " ".join(sorted(constraint.allowed_type_strs)).replace(", ", ",")
        variables.append(f"{constraint.type_param_str}={sets.setdefault(types, len(sets))}")
    fields = [
        schema.domain,
        schema.name,
        str(schema.since_version),
        "deprecated" if schema.deprecated else "",
        " ".join(port(p) for p in schema.inputs),
        " ".join(port(p) for p in schema.outputs),
        " ".join(variables),
        " ".join(attribute(name, info) for name, info in sorted(schema.attributes.items())),
    ]
    return "|".join(fields)


def literal(name: str, rows: list) -> str:
    return "\n".join([f"const char* const {name}[] = {{"] + [f'    "{row}",' for row in rows] + ["    nullptr};", ""])


def main() -> None:
    newest = {}
    for schema in onnx.defs.get_all_schemas():
        key = (schema.domain, schema.name)
        if schema.domain in DOMAINS and (key not in newest or newest[key].since_version < schema.since_version):
            newest[key] = schema
    sets: dict = {}
    rows = [line(newest[key], sets) for key in sorted(newest)]
    print(HEADER.format(version=onnx.__version__), end="")
    print(literal("kTypeSets", list(sets)))
    print(literal("kSignatureRows", rows))
    print("}  // namespace sardonyx::ops")


if __name__ == "__main__":
    main()
