#!/usr/bin/env python3
"""Compares the readers of the older file formats with the programs that define these: SentencePiece for .model files, and the
classes that the package `tokenizers` has for vocab.txt and for vocab.json with merges.txt. All files are made on the spot.

usage: older_files_test.py --dump EXECUTABLE [--count N]
"""

import argparse
import io
import json
import os
import pathlib
import sys
import tempfile

os.environ["RUST_BACKTRACE"] = "0"

import sentencepiece
from dump_client import Dump, DumpError, describe, encoding_bytes
from texts import TextMaker
from tokenizers import AddedToken, ByteLevelBPETokenizer, BertWordPieceTokenizer, processors

SENTENCE_PIECE_OPTIONS = [
    {},
    {"byte_fallback": True},
    {"add_dummy_prefix": False},
    {"normalization_rule_name": "identity"},
    {"normalization_rule_name": "nfkc_cf", "user_defined_symbols": ["<SEP>", "of the", "ﬁ"]},
    {"user_defined_symbols": ["q", "w", "qwz", "zy", "y"]},  # two symbols of "qwzy" are better than three, as these cost each
    {"remove_extra_whitespaces": False},
    {"remove_extra_whitespaces": False, "split_by_whitespace": False},
    {"remove_extra_whitespaces": False, "add_dummy_prefix": False, "byte_fallback": True, "split_by_unicode_script": False},
]


class Failures:
    def __init__(self):
        self.compared = self.differences = 0

    def check(self, what, item, ours, expected):
        self.compared += 1
        if ours == expected:
            return
        self.differences += 1
        if self.differences <= 5:
            print(f"DIFFERENCE {what}: {item!r}\n  ours     {ours!r}\n  expected {expected!r}")


def sentence_piece_texts(seed, count):
    """Without control symbols: SentencePiece takes these for plain text, tokenizers for the symbols that they name."""
    maker, texts = TextMaker(seed, ["<SEP>", "<sep>", "of the", "qwzy", "\u2581", " \u2581 "]), []
    while len(texts) < count:
        text = maker.text()
        if not any(symbol in text for symbol in ("<s>", "</s>", "<unk>", "\0")):
            texts.append(text)
    return texts


def train_sentence_piece(kind, options):
    corpus = [text.replace("\n", " ") for text in sentence_piece_texts("corpus", 400)]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=model, vocab_size=4500, model_type=kind, hard_vocab_limit=False,
        minloglevel=2, character_coverage=0.98, num_threads=1, **options,
    )  # fmt: skip
    return model.getvalue()


def equally_good(reference, symbols, ours, theirs):
    """SentencePiece adds up scores in single precision over the whole text, we in double precision word by word: where two
    segmentations are as good as each other, either may win. What differs must then be the same text at the same score, without
    the user's symbols, whose scores in the file are not what counts."""
    ours, theirs = list(ours), list(theirs)
    while ours and theirs and ours[-1] == theirs[-1]:
        ours.pop(), theirs.pop()
    while ours and theirs and ours[0] == theirs[0]:
        ours.pop(0), theirs.pop(0)
    if reference.unk_id() in ours + theirs or any(reference.id_to_piece(id_) in symbols for id_ in ours + theirs):
        return False
    text = lambda ids: "".join(map(reference.id_to_piece, ids))
    score = lambda ids: sum(map(reference.get_score, ids))
    return text(ours) == text(theirs) and abs(score(ours) - score(theirs)) < 1e-4 * abs(score(theirs))


def compare_sentence_piece(dump, folder, failures, count):
    path = folder / "spiece.model"
    ties = 0
    for kind in ("unigram", "bpe"):
        for options in SENTENCE_PIECE_OPTIONS:
            what = f"{kind} {options}"
            path.write_bytes(train_sentence_piece(kind, options))
            reference = sentencepiece.SentencePieceProcessor(model_file=str(path))
            info = dump.load(folder, folder=True)
            failures.check(what, "model", info["model_type"].lower(), kind)
            failures.check(what, "vocab_size", info["vocab_size"], reference.vocab_size())
            texts, symbols = sentence_piece_texts("texts", count), options.get("user_defined_symbols", ())
            for text, mine in zip(texts, dump.encode(texts), strict=True):
                ours = mine if isinstance(mine, DumpError) else describe(mine)["ids"]
                theirs = reference.encode(text)
                if kind == "unigram" and ours != theirs and isinstance(ours, list) and equally_good(reference, symbols, ours, theirs):
                    ties += 1
                    continue
                failures.check(what, text, ours, theirs)
            ids = list(range(reference.vocab_size()))
            for id_, (token, back) in zip(ids, dump.ids(ids), strict=True):
                failures.check(what, id_, (token, back), (reference.id_to_piece(id_), id_))
    path.unlink()
    print(f"{ties} of {len(SENTENCE_PIECE_OPTIONS) * count} Unigram texts have several best segmentations")
    failures.check("unigram", "ties are few", ties <= len(SENTENCE_PIECE_OPTIONS) * count // 50, True)


def compare_with(dump, reference, what, failures, count):
    """All fields of all encodings, and decoding."""
    maker = TextMaker(what, ["<mask>", "<pad>"])
    inputs = [maker.any_input() for _ in range(count)]
    for item, mine in zip(inputs, dump.encode(inputs), strict=True):
        first, second = item if isinstance(item, tuple) else (item, None)
        theirs = reference.encode(first, second, is_pretokenized=not isinstance(first, str))
        ours = mine if isinstance(mine, DumpError) else describe(mine)
        failures.check(what, item, ours, describe(encoding_bytes(theirs)))
        decoded = dump.decode(theirs.ids, skip_special_tokens=False).decode()
        failures.check(f"{what}: decode", theirs.ids, decoded, reference.decode(theirs.ids, skip_special_tokens=False))


def compare_vocab_txt(dump, folder, failures, count):
    maker = TextMaker("vocab.txt")
    corpus = [maker.text() for _ in range(100)]
    for lowercase in (True, False):
        trained = BertWordPieceTokenizer(lowercase=lowercase)
        trained.train_from_iterator(corpus, vocab_size=600, min_frequency=1, show_progress=False)
        trained.save_model(str(folder))
        # Windows' line ends, and whitespace at the end of a line, are no part of a word.
        lines = (folder / "vocab.txt").read_text().splitlines()
        (folder / "vocab.txt").write_bytes(b"".join(f"{line}{' ' * (i % 2)}\r\n".encode() for i, line in enumerate(lines)))
        (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowercase, "model_max_length": 77}))
        info = dump.load(folder, folder=True)
        failures.check("vocab.txt", "config", info["config"].get("do_lower_case"), lowercase)
        failures.check("vocab.txt", "config", info["config"].get("model_max_length"), 77)
        reference = BertWordPieceTokenizer({line: i for i, line in enumerate(lines)}, lowercase=lowercase)
        compare_with(dump, reference, f"vocab.txt lowercase={lowercase}", failures, count)
    for name in ("vocab.txt", "tokenizer_config.json"):
        (folder / name).unlink()


def compare_vocab_and_merges(dump, folder, failures, count):
    maker = TextMaker("vocab.json")
    corpus = [maker.text() for _ in range(100)]
    for roberta in (False, True):
        specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if roberta else ["<|endoftext|>"]
        trained = ByteLevelBPETokenizer()
        trained.train_from_iterator(corpus, vocab_size=800, min_frequency=1, special_tokens=specials, show_progress=False)
        trained.save_model(str(folder))
        vocab = json.loads((folder / "vocab.json").read_text())
        (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=not roberta))  # escaped, as GPT-2's is, and not
        if roberta:  # Windows' line ends
            merges = (folder / "merges.txt").read_bytes()
            (folder / "merges.txt").write_bytes(merges.replace(b"\n", b"\r\n"))
        reference = ByteLevelBPETokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
        reference.add_special_tokens([AddedToken(s, lstrip=s == "<mask>", normalized=False) for s in specials])
        if roberta:
            pair = ("</s>", vocab["</s>"]), ("<s>", vocab["<s>"])
            reference._tokenizer.post_processor = processors.RobertaProcessing(*pair, trim_offsets=True, add_prefix_space=False)
        else:
            reference._tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
        for loaded in (folder, folder / "vocab.json"):
            dump.load(loaded, folder=loaded == folder)
            compare_with(dump, reference, f"vocab.json roberta={roberta}", failures, count)
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink()


CONFIGS = [
    # tokenizer_config.json, special_tokens_map.json, what both come to
    ({"model_max_length": 512}, None, {"model_max_length": 512, "special_tokens": {}}),
    ({"model_max_length": 1000000000000000019884624838656}, None, {"special_tokens": {}}),
    ({"model_max_length": 1e30, "do_lower_case": False}, None, {"do_lower_case": False, "special_tokens": {}}),
    ({"model_max_length": None, "pad_token": "<p>"}, None, {"special_tokens": {"pad_token": "<p>"}}),
    (None, {"cls_token": "[CLS]", "mask_token": {"content": "<m>", "lstrip": True}},
     {"special_tokens": {"cls_token": "[CLS]", "mask_token": "<m>"}}),
    ({"sep_token": "new", "unk_token": {"content": "u", "__type": "AddedToken"}}, {"sep_token": "old", "bos_token": "b"},
     {"special_tokens": {"sep_token": "new", "bos_token": "b", "unk_token": "u"}}),
]  # fmt: skip


def compare_configurations(dump, folder, failures):
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"]) + "\n")
    names = ("tokenizer_config.json", "special_tokens_map.json")
    for *files, expected in CONFIGS:
        for name, content in zip(names, files):
            (folder / name).unlink(missing_ok=True)
            if content is not None:
                (folder / name).write_text(json.dumps(content))
        failures.check("configuration", files, dump.load(folder, folder=True)["config"], expected)
    for name in ("vocab.txt", *names):
        (folder / name).unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--count", type=int, default=400)
    arguments = parser.parse_args()
    dump, failures = Dump(arguments.dump), Failures()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        compare_configurations(dump, folder, failures)
        compare_vocab_txt(dump, folder, failures, arguments.count)
        compare_vocab_and_merges(dump, folder, failures, arguments.count)
        compare_sentence_piece(dump, folder, failures, arguments.count)
    dump.close()
    print(f"older files: {failures.compared} comparisons, {failures.differences} differences")
    return 1 if failures.differences or not failures.compared else 0


if __name__ == "__main__":
    sys.exit(main())
