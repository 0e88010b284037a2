"""Encodes the same inputs with tokenizer_dump and with the reference and reports every difference."""

import json

from dump_client import DumpError, describe, encoding_bytes, pieces
from tokenizers import AddedToken, Tokenizer


def set_options(reference, truncation=None, padding=None):
    reference.no_truncation()
    reference.no_padding()
    if truncation:
        reference.enable_truncation(**truncation)
    if padding:
        reference.enable_padding(**padding)


def reference_encoding(reference, item, add_special_tokens=True):
    """Bytes of the reference's encoding, or the exception it raises."""
    first, second = item if isinstance(item, tuple) else (item, None)
    split = not isinstance(first, str)
    try:
        return encoding_bytes(reference.encode(first, second, is_pretokenized=split, add_special_tokens=add_special_tokens))
    except BaseException as error:  # the reference panics on some inputs
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return error


class Comparison:
    """One tokenizer file in both implementations. Differences are counted and the first few printed."""

    AT_ONCE = 50  # inputs in one request: the pieces of a cut pair may take a hundred megabytes

    def __init__(self, dump, path, name, shown=3):
        self.dump, self.path, self.name = dump, path, name
        self.reference = Tokenizer.from_file(str(path))
        self.info = dump.load(path)
        self.compared = self.strings = self.differences = self.reference_errors = 0
        self.shown = shown

    def report(self, kind, item, ours, theirs):
        self.differences += 1
        if self.differences > self.shown:
            return
        print(f"DIFFERENCE {self.name}: {kind} {item!r}")
        if isinstance(ours, bytes) and isinstance(theirs, bytes):
            a, b = describe(ours), describe(theirs)
            for key in a:
                if a[key] != b[key]:
                    print(f"  {key}\n    ours      {a[key]}\n    reference {b[key]}")
            if a == b:
                print("  overflowing pieces differ")
                for x, y in zip(pieces(ours), pieces(theirs)):
                    print(*(f"    {key}: ours {x[key]} reference {y[key]}\n" for key in x if x[key] != y[key]))
        else:
            print(f"  ours      {ours!r}\n  reference {theirs!r}")

    def compare(self, inputs, truncation=None, padding=None, add_special_tokens=True, keep_options=False):
        """With `keep_options`, truncation and padding are those of the file."""
        if not keep_options:
            set_options(self.reference, truncation, padding)
        options = {"truncation": truncation, "padding": padding, "use_defaults": keep_options}
        for start in range(0, len(inputs), self.AT_ONCE):
            self.compare_some(inputs[start : start + self.AT_ONCE], options, add_special_tokens)

    def compare_some(self, inputs, options, add_special_tokens):
        ours = self.dump.encode(inputs, add_special_tokens=add_special_tokens, **options)
        for item, mine in zip(inputs, ours, strict=True):
            theirs = reference_encoding(self.reference, item, add_special_tokens)
            self.compared += 1
            self.strings += 1
            if isinstance(theirs, BaseException):
                self.reference_errors += 1
                # Where the reference raises we may raise, or give an answer where its fault is a crash.
                if isinstance(mine, bytes) and "PanicException" not in repr(theirs):
                    self.report("encode", item, mine, theirs)
                continue
            if mine != theirs:
                self.report(f"encode {json.dumps(options)}", item, mine, theirs)

    def compare_batch(self, inputs, truncation=None, padding=None):
        set_options(self.reference, truncation, padding)
        options = {"truncation": truncation, "padding": padding, "use_defaults": False}
        theirs = b"".join(map(encoding_bytes, self.reference.encode_batch(inputs)))
        self.compared += 1
        mine = self.dump.encode_batch(inputs, **options)
        for item, ours, reference in zip(inputs, pieces(mine), pieces(theirs)):
            if ours != reference:
                self.report(f"encode_batch {json.dumps(options)}", item, ours, reference)

    def compare_decoding(self, id_lists):
        for ids in id_lists:
            for skip in (False, True):
                mine = self.dump.decode(ids, skip_special_tokens=skip)
                self.compared += 1
                try:
                    theirs = self.reference.decode(ids, skip_special_tokens=skip)
                except BaseException as error:  # some decoders panic on short tokens
                    if isinstance(error, (KeyboardInterrupt, SystemExit)):
                        raise
                    self.reference_errors += 1
                    continue
                if mine != theirs.encode():
                    self.report(f"decode skip={skip}", ids, mine.decode(errors="replace"), theirs)

    def compare_added_at_run_time(self, tokens, inputs):
        """Changes both tokenizers: tokens are added, and then special tokens are taken for plain text."""
        for some in (tokens[: len(tokens) // 2], tokens):
            added = self.dump.add_tokens(some), self.reference.add_tokens(some)
            if added[0] != added[1]:
                self.report("add_tokens", some, *added)
            self.compare(inputs)
        sizes = [t for t in tokens if self.reference.token_to_id(t.content) is not None]
        self.compare_ids([self.reference.token_to_id(t.content) for t in sizes])
        for on in (True, False):
            self.dump.encode_special_tokens(on)
            self.reference.encode_special_tokens = on
            self.compare(inputs)

    def compare_ids(self, ids):
        for id_, (token, back) in zip(ids, self.dump.ids(ids), strict=True):
            theirs = self.reference.id_to_token(id_)
            self.compared += 1
            if token != theirs or (token is not None and back != self.reference.token_to_id(token)):
                self.report("id", id_, (token, back), theirs)

    def compare_vocabulary(self):
        vocabulary = self.reference.get_vocab(with_added_tokens=True)
        ids = sorted(set(vocabulary.values())) + [max(vocabulary.values(), default=0) + 1]
        self.compare_ids(ids)
        sizes = self.dump.sizes()
        theirs = (self.reference.get_vocab_size(True), self.reference.get_vocab_size(False))
        if sizes != theirs:
            self.report("vocab size", "", sizes, theirs)


TRUNCATIONS = [
    {"max_length": 8},
    {"max_length": 16, "stride": 3},
    {"max_length": 9, "stride": 2, "direction": "left"},
    {"max_length": 12, "strategy": "only_first"},
    {"max_length": 12, "strategy": "only_second", "stride": 1},
    {"max_length": 7, "strategy": "longest_first", "direction": "left"},
    {"max_length": 5},
]

PADDINGS = [
    None,
    {"length": 20},
    {"direction": "left", "pad_id": 7, "pad_type_id": 3, "pad_token": "<p>", "length": 13},
    {"pad_to_multiple_of": 8},
]


def shortened(item, most=40):
    """At most so many characters of each text. Pairs give a piece for every two pieces that overflow, and for every three where
    a template has a text twice: they are cut much shorter, or there would be millions."""
    if isinstance(item, tuple):
        return shortened(item[0], 8), shortened(item[1], 8)
    return item[:most] if isinstance(item, str) else [word[: most // 5] for word in item]


def with_distinct_forms(reference, tokens):
    """Those whose normalized forms differ. Of several with the same form the reference finds any: it keeps them in a hash map
    of random order, so that its answer changes from run to run. None has an empty form either: the reference finds one at
    every place, and beside a token that takes the whitespace to its right it takes memory without end."""
    normalize = reference.normalizer.normalize_str if reference.normalizer else str
    form = lambda token: normalize(token.content) if token.normalized else (token.content,)
    known = {form(token): token.content for token in reference.get_added_tokens_decoder().values()}
    kept = []
    for token in tokens:
        if form(token) and known.setdefault(form(token), token.content) == token.content:
            kept.append(token)
    return kept


def random_added_tokens(maker, count):
    flag = lambda: maker.random.random() < 0.3
    contents = [maker.piece() if flag() else maker.random.choice(maker.sequences) for _ in range(count)]
    return [
        AddedToken(content, single_word=flag(), lstrip=flag(), rstrip=flag(), normalized=flag(), special=flag())
        for content in contents
    ]


def compare_everything(comparison, maker, count):
    """All that one tokenizer is asked without changing it: plain texts, pairs, words, options, batches, decoding."""
    inputs = [maker.any_input() for _ in range(count)]
    comparison.compare(inputs)
    some = max(count // 10, 20)
    comparison.compare([maker.any_input() for _ in range(some)], add_special_tokens=False)
    for i, truncation in enumerate(TRUNCATIONS):
        padding = PADDINGS[i % len(PADDINGS)]
        inputs_to_cut = [shortened(maker.any_input()) for _ in range(some)]
        comparison.compare(inputs_to_cut, truncation=truncation, padding=padding)
    comparison.compare_batch([maker.text() for _ in range(some)], padding={"pad_id": 1})
    comparison.compare_batch([maker.text() for _ in range(some)], {"max_length": 10}, {"pad_to_multiple_of": 4})
    size = comparison.reference.get_vocab_size()
    id_lists = [[maker.random.randrange(size + 2) for _ in range(maker.random.randint(0, 30))] for _ in range(some)]
    set_options(comparison.reference)
    texts = [item for item in inputs[: 2 * some] if isinstance(item, str)]
    for text in texts:
        try:
            id_lists.append(comparison.reference.encode(text).ids)
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
    comparison.compare_decoding(id_lists)


def compare_changes(comparison, maker, count):
    """What changes a tokenizer, and its vocabulary before and after. It comes last."""
    comparison.compare_vocabulary()
    tokens = with_distinct_forms(comparison.reference, random_added_tokens(maker, 6))
    comparison.compare_added_at_run_time(tokens, [maker.any_input() for _ in range(count)])
    comparison.compare_vocabulary()


def all_code_points(chunk=64):
    """Every code point alone between letters, in texts of `chunk` of them, and in pairs with its neighbours."""
    texts = []
    for start in range(0, 0x110000, chunk):
        points = [chr(c) for c in range(start, start + chunk) if not 0xD800 <= c < 0xE000]
        if points:
            texts.append(" ".join("a" + c + "b" for c in points))
            texts.append("".join(points))
    return texts


def finish(comparisons, label):
    """Prints the totals; exit status 1 where anything differs or nothing was compared."""
    compared = sum(c.compared for c in comparisons)
    differences = sum(c.differences for c in comparisons)
    errors = sum(c.reference_errors for c in comparisons)
    strings = sum(c.strings for c in comparisons)
    print(f"{label}: {len(comparisons)} tokenizers, {strings} texts, {compared} comparisons, {differences} differences")
    if errors:
        print(f"{label}: the reference itself failed on {errors} inputs")
    return 1 if differences or not compared else 0


__all__ = [
    "Comparison", "DumpError", "all_code_points", "compare_changes", "compare_everything", "finish", "shortened",
    "with_distinct_forms",
]  # fmt: skip
