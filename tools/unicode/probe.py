"""Asks the PyPI package `tokenizers` which code points each of its components treats specially.

The components of the reference follow several different Unicode versions, so every table is read off the component itself.
"""

import struct

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

SURROGATES = range(0xD800, 0xE000)
ALL = [cp for cp in range(0x110000) if cp not in SURROGATES]
ALL_TEXT = "".join(map(chr, ALL))


def isolated_by(pre_tokenizer, separator="a"):
    """Code points that the pre-tokenizer cuts off from a letter on either side."""
    found = set()
    for cp in ALL:
        pieces = pre_tokenizer.pre_tokenize_str(separator + chr(cp) + separator)
        if len(pieces) != 1:
            found.add(cp)
    return found


def matched_by_pattern(pattern):
    """Code points matched by a one-character Oniguruma pattern."""
    splitter = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    found = set()
    for piece, _ in splitter.pre_tokenize_str(ALL_TEXT):
        found.update(map(ord, piece))
    return found


def removed_by(normalizer):
    """Code points that the normalizer drops from between two letters."""
    return {cp for cp in ALL if normalizer.normalize_str("a" + chr(cp) + "a") == "aa"}


def images(normalizer):
    """code point -> text, for the code points that the normalizer changes when alone."""
    return {cp: out for cp in ALL if (out := normalizer.normalize_str(chr(cp))) != chr(cp)}


def _tokenizer_with(token):
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0}, "<unk>"))
    tokenizer.add_tokens([token])
    return tokenizer


def added_token_word_characters():
    """Code points that keep a `single_word` added token from matching (\\w of the reference's matcher)."""
    tokenizer = _tokenizer_with(AddedToken("Q", single_word=True, normalized=False))
    return {cp for cp in ALL if chr(cp) != "Q" and 1 not in tokenizer.encode("Q" + chr(cp)).ids} | {ord("Q")}


def added_token_space_characters():
    """Code points that an `rstrip` added token swallows (\\s of the reference's matcher)."""
    tokenizer = _tokenizer_with(AddedToken("Q", rstrip=True, normalized=False))
    return {cp for cp in ALL if tokenizer.encode("Q" + chr(cp)).tokens[0] != "Q"}


def scripts():
    """code point -> class number of UnicodeScripts; 0 where the code point never causes a cut."""
    splitter = pre_tokenizers.UnicodeScripts()
    cut = lambda text: len(splitter.pre_tokenize_str(text)) > 1
    # Two letters of different scripts: one of them differs from any script.
    neutral = {cp for cp in ALL if not cut("a" + chr(cp)) and not cut("\u05d0" + chr(cp))}
    classes, representatives, previous = {}, [], None
    for cp in ALL:
        if cp in neutral:
            continue
        if previous is not None and not cut(chr(previous) + chr(cp)):
            classes[cp] = classes[previous]
        else:
            found = next((i for i, r in enumerate(representatives) if not cut(chr(r) + chr(cp))), None)
            if found is None:
                found = len(representatives)
                representatives.append(cp)
            classes[cp] = found + 1
        previous = cp
    return classes


def _one_key_map(key, replacement):
    """A compiled character map (darts-clone's double array) with one key."""
    units, position = {0: 256 << 10}, 256
    for i, byte in enumerate(key):
        position ^= byte
        offset = 512 * (i + 1)
        leaf = i == len(key) - 1
        units[position] = offset << 10 | leaf << 8 | byte
        position ^= offset
    units[position] = 1 << 31
    array = [units.get(i, 0) for i in range(max(units) + 1024)]
    return struct.pack(f"<I{len(array)}I", 4 * len(array), *array) + replacement.encode() + b"\0"


def joined_to_letter():
    """Code points that share a grapheme cluster with a letter before them: such a cluster is replaced whole."""
    normalizer = normalizers.Precompiled(_one_key_map(b"a", "X"))
    return {cp for cp in ALL if normalizer.normalize_str("a" + chr(cp)) == "X"}


def joins_next_letter(cp):
    """Whether the code point shares a grapheme cluster with a letter after it."""
    return normalizers.Precompiled(_one_key_map(chr(cp).encode(), "X")).normalize_str(chr(cp) + "a") == "X"
