#!/usr/bin/env python3
"""Writes text/tokenizer/unicode/tables.inc from the PyPI packages `tokenizers`, `unicodedata2` and `regex`.

usage: generate_tables.py [OUTPUT]
"""

import pathlib
import sys

import probe
import regex
import tokenizers
import unicodedata2
from tokenizers import normalizers, pre_tokenizers
from two_stage import array, mapping, table

# In the order of the bits of CharFlag in text/tokenizer/unicode/properties.h.
FLAGS = {
    "kWhitespace": lambda: probe.isolated_by(pre_tokenizers.WhitespaceSplit()),
    "kBertControl": lambda: probe.removed_by(
        normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    ),
    "kNonspacingMark": lambda: bert_marks(),
    "kPunctuation": lambda: probe.isolated_by(pre_tokenizers.Punctuation()),
    "kCombiningMark": lambda: probe.removed_by(normalizers.StripAccents()),
    "kNumeric": lambda: probe.isolated_by(pre_tokenizers.Digits(individual_digits=True)),
    "kWord": probe.added_token_word_characters,
    "kPatternSpace": lambda: probe.matched_by_pattern(r"\s"),
    "kPatternLetter": lambda: probe.matched_by_pattern(r"\p{L}"),
    "kPatternNumber": lambda: probe.matched_by_pattern(r"\p{N}"),
    "kPatternMark": lambda: probe.matched_by_pattern(r"\p{M}"),
    "kPatternUpper": lambda: probe.matched_by_pattern(r"[\p{Lu}\p{Lt}]"),
    "kPatternLower": lambda: probe.matched_by_pattern(r"\p{Ll}"),
}


def bert_marks():
    """Marks that BertNormalizer's accent stripping removes; those that decompose are judged by their parts."""
    strip = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    return {cp for cp in probe.removed_by(strip) if len(normalizers.NFD().normalize_str(chr(cp))) == 1}


def combining_classes():
    """ccc as the reference sees it: a mark of class c is sorted before U+0345 (240) if the reference knows it."""
    nfd = normalizers.NFD()
    classes = [0] * 0x110000
    for cp in probe.ALL:
        ccc = unicodedata2.combining(chr(cp))
        if ccc == 0 or len(nfd.normalize_str(chr(cp))) > 1:
            continue
        if ccc < 240:
            known = nfd.normalize_str("a\u0345" + chr(cp)) == "a" + chr(cp) + "\u0345"
        else:
            known = nfd.normalize_str("a" + chr(cp) + "\u0301") == "a\u0301" + chr(cp)
        classes[cp] = ccc if known else 0
    return classes


def compositions():
    """(first, second, composed), read off canonical pairs that the reference's NFC composes. Hangul is arithmetic."""
    nfc, rows = normalizers.NFC(), []
    for cp in probe.ALL:
        parts = unicodedata2.decomposition(chr(cp)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (int(part, 16) for part in parts)
            if nfc.normalize_str(chr(first) + chr(second)) == chr(cp):
                rows.append((first, second, cp))
    return sorted(rows)


# In the order of GraphemeClass in text/tokenizer/unicode/properties.h.
GRAPHEME_CLASSES = (
    "Other CR LF Control Extend ZWJ Regional_Indicator Prepend SpacingMark L V T LV LVT Extended_Pictographic".split()
)


def grapheme_classes():
    """Grapheme_Cluster_Break of the `regex` package, corrected where the reference joins or parts otherwise."""
    text, values = "".join(map(chr, probe.ALL)), [0] * 0x110000
    for number, name in list(enumerate(GRAPHEME_CLASSES))[::-1]:
        pattern = rf"\p{{{name}}}" if name == "Extended_Pictographic" else rf"\p{{GCB={name}}}"
        if number:
            for match in regex.finditer(pattern, text):
                values[ord(match[0])] = number
    extend, joining = GRAPHEME_CLASSES.index("Extend"), {GRAPHEME_CLASSES.index(n) for n in ("Extend", "ZWJ", "SpacingMark")}
    joined = probe.joined_to_letter()
    for cp in probe.ALL:
        if (cp in joined) != (values[cp] in joining):
            values[cp] = extend if cp in joined else 0
        elif GRAPHEME_CLASSES[values[cp]] == "Prepend" and not probe.joins_next_letter(cp):
            values[cp] = 0
    return values


def script_classes():
    values = [0] * 0x110000
    for cp, number in probe.scripts().items():
        values[cp] = number
    print(f"scripts: {max(values)}", file=sys.stderr)
    return values


def flag_tables():
    values = [0] * 0x110000
    for bit, (name, find) in enumerate(FLAGS.items()):
        found = find()
        print(f"{name}: {len(found)}", file=sys.stderr)
        for cp in found:
            values[cp] |= 1 << bit
    combos = sorted(set(values))
    index = {combo: i for i, combo in enumerate(combos)}
    return table("Flag", [index[v] for v in values]) + array("std::uint16_t", "kFlagSets", combos)


def is_hangul_syllable(cp):
    return 0xAC00 <= cp <= 0xD7A3


def text_mapping(name, normalizer):
    found = {cp: [ord(c) for c in image] for cp, image in probe.images(normalizer).items() if not is_hangul_syllable(cp)}
    print(f"{name}: {len(found)}", file=sys.stderr)
    return mapping(name, found)


def main():
    default = pathlib.Path(__file__).resolve().parents[2] / "text/tokenizer/unicode/tables.inc"
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    parts = [
        "// Generated by tools/unicode/generate_tables.py; do not edit.\n",
        f"// Read off tokenizers {tokenizers.__version__}.\n",
        flag_tables(),
        table("CombiningClass", combining_classes()),
        table("Script", script_classes()),
        table("Grapheme", grapheme_classes()),
        text_mapping("Lowercase", normalizers.Lowercase()),
        text_mapping("Canonical", normalizers.NFD()),
        text_mapping("Compatible", normalizers.NFKD()),
    ]
    rows = compositions()
    parts.append(array("std::uint32_t", "kCompositions", [value for row in rows for value in row]))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(parts))


if __name__ == "__main__":
    main()
