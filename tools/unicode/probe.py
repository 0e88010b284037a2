"""Asks the PyPI package `tokenizers` which code points each of its components treats specially.

The components of the reference follow several different Unicode versions, so every table is read off the component itself.
"""

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
