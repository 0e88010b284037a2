"""Compact two-stage tables as C++ source."""

BLOCK = 128


def two_stage(values):
    """values[code point] -> (stage1, stage2) with stage2 the distinct blocks, concatenated."""
    blocks, stage1, stage2 = {}, [], []
    for start in range(0, 0x110000, BLOCK):
        block = tuple(values[start : start + BLOCK])
        if block not in blocks:
            blocks[block] = len(blocks)
            stage2.extend(block)
        stage1.append(blocks[block])
    return stage1, stage2


def array(ctype, name, values):
    lines, line = [], " "
    for value in values:
        text = f" {value},"
        if len(line) + len(text) > 119:
            lines.append(line)
            line = " "
        line += text
    lines.append(line)
    return f"const {ctype} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def narrowest(values):
    top = max(values)
    return "std::uint8_t" if top < 256 else "std::uint16_t" if top < 65536 else "std::uint32_t"


def table(name, values):
    stage1, stage2 = two_stage(values)
    return array(narrowest(stage1), f"k{name}Stage1", stage1) + array(narrowest(stage2), f"k{name}Stage2", stage2)


def mapping(name, images):
    """images: code point -> sequence of code points. Index 0 means unchanged; sequences are stored as length, then code points."""
    values, pool, seen = [0] * 0x110000, [0], {}
    for cp, image in sorted(images.items()):
        image = tuple(image)
        if image not in seen:
            seen[image] = len(pool)
            pool.extend((len(image), *image))
        values[cp] = seen[image]
    return table(name, values) + array("std::uint32_t", f"k{name}Pool", pool)
