"""Makes small tokenizers with the reference itself so that every component and every option occurs; equal seeds, equal files."""

import base64
import json
import random

from comparison import with_distinct_forms
from texts import TextMaker
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
PATTERNS = [
    GPT2, LLAMA3, QWEN2, O200K, CLIP, r"\s+", r"\d{1,3}", r"\w+|[^\w\s]+", r"[\p{Han}\p{Hiragana}]+", r"[[:punct:]]|[^[:alnum:]]+",
    r"(?=\p{Lu})", r"\p{^L}+", r"\P{L}\p{M}*", r"a|e|i", r"[\r\n]", r"\S+\s?", r"^.|$", r"\p{Emoji}", r"(?i)[^a-y\s]+", r"x*",
]  # fmt: skip


def character_map(entries):
    """A Precompiled map: darts-clone's double array over the keys, values at offsets of zero-terminated replacements."""
    blob, offsets = b"", {}
    for key, value in entries.items():
        offsets[key.encode()] = len(blob)
        blob += value.encode() + b"\0"
    children = {b"": set()}
    for key in offsets:
        for i in range(len(key)):
            children.setdefault(key[:i], set()).add(key[i])
        children.setdefault(key, set())
    units, placed = {}, {b"": 0}
    free = 1
    for prefix in sorted(children, key=lambda p: (len(p), p)):
        # Every node gets blocks of its own; offsets above 21 bits' reach are multiples of 256.
        block, free = free, free + 1
        position = placed[prefix]
        leaf = prefix in offsets
        offset = position ^ (block * 256)
        label = prefix[-1] if prefix else 0
        units[position] = offset << 10 | leaf << 8 | label
        if leaf:
            units[block * 256] = 1 << 31 | offsets[prefix]
        for byte in children[prefix]:
            placed[prefix + bytes([byte])] = block * 256 ^ byte
    array = [units.get(i, 0) for i in range((free + 1) * 256)]
    data = (4 * len(array)).to_bytes(4, "little") + b"".join(u.to_bytes(4, "little") for u in array) + blob
    return base64.b64encode(data).decode()


CHARACTER_MAP = character_map(
    {
        "ﬁ": "fi", "½": "1⁄2", "\u00a0": " ", "\u200b": "", "Å": "A", "①": "1", "e\u0301": "é", "ａ": "a", "\t": " ", "\n": " ",
        "\r\n": " ", "ǅ": "Dž", "…": "...", "\ufeff": "", "Ａ": "A", "ﷺ": "صلى الله", "각": "가", "\u0301": "", "™": "TM", "'": "",
        "!": "?!",
    }
)  # fmt: skip


def normalizer_choices():
    booleans = (False, True)
    choices = [
        normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(), normalizers.Lowercase(),
        normalizers.StripAccents(), normalizers.Nmt(), normalizers.ByteLevel(), normalizers.Prepend("▁"),
        normalizers.Prepend("ab"), normalizers.Replace(" ", "▁"), normalizers.Replace(Regex(r"\s+"), " "),
        normalizers.Replace("e", ""), normalizers.Replace(Regex(r"[aeiou]\p{M}*"), "ö"), normalizers.Replace("''", '"'),
        normalizers.Replace(Regex(r"(\d)(\d)"), "#"), normalizers.Precompiled(base64.b64decode(CHARACTER_MAP)),
    ]  # fmt: skip
    choices += [normalizers.Strip(left, right) for left in booleans for right in booleans if left or right]
    choices += [
        normalizers.BertNormalizer(clean, chinese, accents, lower)
        for clean in booleans
        for chinese in booleans
        for accents in (None, False, True)
        for lower in booleans
    ]
    return choices


def pre_tokenizer_choices():
    booleans = (False, True)
    choices = [
        pre_tokenizers.Whitespace(), pre_tokenizers.WhitespaceSplit(), pre_tokenizers.BertPreTokenizer(),
        pre_tokenizers.UnicodeScripts(), pre_tokenizers.CharDelimiterSplit("e"), pre_tokenizers.CharDelimiterSplit("▁"),
        pre_tokenizers.FixedLength(1), pre_tokenizers.FixedLength(5),
    ]  # fmt: skip
    choices += [pre_tokenizers.Digits(individual) for individual in booleans]
    choices += [pre_tokenizers.Punctuation(behavior) for behavior in BEHAVIORS]
    choices += [pre_tokenizers.ByteLevel(add_prefix_space=p, use_regex=r) for p in booleans for r in booleans]
    choices += [
        pre_tokenizers.Metaspace(replacement=mark, prepend_scheme=scheme, split=split)
        for mark in "▁_"
        for scheme in ("always", "first", "never")
        for split in booleans
    ]
    choices += [pre_tokenizers.Split(" ", behavior, invert) for behavior in BEHAVIORS for invert in booleans]
    for i, pattern in enumerate(PATTERNS):
        choices.append(pre_tokenizers.Split(Regex(pattern), BEHAVIORS[i % 5], i % 3 == 0))
        choices.append(pre_tokenizers.Split(Regex(pattern), "isolated", False))
    return choices


def decoder_choices():
    return [
        None, decoders.ByteLevel(), decoders.WordPiece("##", True), decoders.WordPiece("@@", False), decoders.ByteFallback(),
        decoders.Fuse(), decoders.Strip("▁", 1, 0), decoders.Strip("e", 2, 2), decoders.Metaspace(),
        decoders.Metaspace(prepend_scheme="never"), decoders.Metaspace("_", "first", False), decoders.BPEDecoder("</w>"),
        decoders.CTC(), decoders.CTC("a", "e", False), decoders.Replace("▁", " "), decoders.Replace(Regex(r"\s+"), "_"),
        decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
    ]  # fmt: skip


def processor_choices():
    booleans = (False, True)
    specials = [("[CLS]", 1), ("[SEP]", 2)]
    template = processors.TemplateProcessing
    two = {"id": "TWO", "ids": [1, 2], "tokens": ["[CLS]", "[SEP]"]}
    choices = [
        None,
        template(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=specials),
        template(single="$A:3 [SEP]:4", pair="$B:2 [SEP]:5 $A:1", special_tokens=specials),
        template(single="TWO:1 $A TWO", pair="TWO $A $B $A:7 TWO", special_tokens=[two]),
        template(single="$A", pair="$A:0 $B:0", special_tokens=[]),
        processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
    ]
    choices += [
        processors.RobertaProcessing(("[SEP]", 2), ("[CLS]", 1), trim_offsets=trim, add_prefix_space=prefix)
        for trim in booleans
        for prefix in booleans
    ]
    choices += [processors.ByteLevel(trim_offsets=trim) for trim in booleans]
    bert = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    choices.append(processors.Sequence([processors.ByteLevel(trim_offsets=True), choices[1]]))
    choices.append(processors.Sequence([processors.ByteLevel(trim_offsets=False), choices[2]]))
    choices.append(processors.Sequence([bert, processors.ByteLevel(trim_offsets=True)]))
    choices.append(processors.Sequence([choices[6]]))
    return choices


def trained_model(kind, corpus, rng, normalizer, pre_tokenizer):
    """A tokenizer whose model is trained on the corpus; options are drawn."""
    specials = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    size = rng.choice((60, 150, 400))
    if kind == "WordPiece":
        prefix = rng.choice(("##", "@", ""))
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=rng.choice((3, 10, 100))))
        trainer = trainers.WordPieceTrainer(
            vocab_size=size, special_tokens=specials, show_progress=False, continuing_subword_prefix=prefix
        )
    elif kind == "BPE":
        options = {
            "fuse_unk": rng.random() < 0.5, "byte_fallback": rng.random() < 0.4, "ignore_merges": rng.random() < 0.3,
            "continuing_subword_prefix": rng.choice((None, None, None, "##", "▁")),
            "end_of_word_suffix": rng.choice((None, None, None, "</w>")),
        }  # fmt: skip
        if rng.random() < 0.8:
            options["unk_token"] = "[UNK]"
        tokenizer = Tokenizer(models.BPE(**{k: v for k, v in options.items() if v is not None}))
        alphabet = pre_tokenizers.ByteLevel.alphabet() if rng.random() < 0.5 else []
        bytes_ = [f"<0x{b:02X}>" for b in range(256)] if options["byte_fallback"] else []
        affixes = {k: options[k] for k in ("continuing_subword_prefix", "end_of_word_suffix") if options[k]}
        trainer = trainers.BpeTrainer(
            vocab_size=size + 300, special_tokens=specials + bytes_, show_progress=False, initial_alphabet=alphabet, **affixes
        )
    elif kind == "Unigram":
        tokenizer = Tokenizer(models.Unigram())
        bytes_ = [f"<0x{b:02X}>" for b in range(256)] if rng.random() < 0.4 else []
        trainer = trainers.UnigramTrainer(
            vocab_size=2500 + len(bytes_), special_tokens=specials + bytes_, unk_token="[UNK]", show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
        trainer = trainers.WordLevelTrainer(vocab_size=size, special_tokens=specials, show_progress=False)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def added_tokens(rng):
    contents = ["Hello", "the", "THE", " of ", "东京", "<tok>", "e\u0301", "don", "▁", "<tok", "a b", "é", "ß"]
    flag = lambda: rng.random() < 0.3
    return [
        AddedToken(content, single_word=flag(), lstrip=flag(), rstrip=flag(), normalized=rng.random() < 0.5, special=flag())
        for content in rng.sample(contents, rng.randint(0, 7))
    ]


def sequence(make, parts):
    return None if not parts else parts[0] if len(parts) == 1 else make(parts)


def in_turn(choices, number):
    """The number-th of the choices, laid out again and again in other orders: all occur in every len(choices) numbers."""
    lap, place = divmod(number, len(choices))
    order = list(choices)
    random.Random(f"lap {lap} of {len(choices)}").shuffle(order)
    return order[place]


def with_byte_fallback(text, on):
    """The trainer forgets byte_fallback of Unigram models: set in the file."""
    description = json.loads(text)
    if description["model"]["type"] == "Unigram":
        description["model"]["byte_fallback"] = on
    return json.dumps(description, ensure_ascii=False)


def make_tokenizer(number):
    """(name, text of tokenizer.json, contents of its added tokens) of the number-th tokenizer."""
    rng = random.Random(f"family {number}")
    maker = TextMaker(f"corpus {number}")
    corpus = [maker.text() for _ in range(40)]
    choices, pre_choices, ends, decoding = normalizer_choices(), pre_tokenizer_choices(), processor_choices(), decoder_choices()
    # One of each list, or none, is picked in turn, so that all occur; the rest at random.
    picked = [in_turn(choices + [None] * (len(choices) // 6), number)]
    picked += [rng.choice(choices) for _ in range(rng.choice((0, 0, 1, 2)))]
    picked = [choice for choice in picked if choice is not None]
    rng.shuffle(picked)
    cuts = [in_turn(pre_choices + [None] * (len(pre_choices) // 6), number)]
    cuts += [rng.choice(pre_choices) for _ in range(rng.choice((0, 0, 1)))]
    cuts = [choice for choice in cuts if choice is not None]
    rng.shuffle(cuts)
    kind = ("WordPiece", "BPE", "Unigram", "WordLevel")[number % 4]
    normalizer = sequence(normalizers.Sequence, picked)
    pre_tokenizer = sequence(pre_tokenizers.Sequence, cuts)
    tokenizer = trained_model(kind, corpus, rng, normalizer, pre_tokenizer)
    end = in_turn(ends, number)
    if end is not None:
        tokenizer.post_processor = end
    decoder = in_turn(decoding, number)
    if decoder is not None:
        tokenizer.decoder = decoder
    tokens = with_distinct_forms(tokenizer, added_tokens(rng))
    tokenizer.add_tokens(tokens)
    if rng.random() < 0.3:
        tokenizer.enable_truncation(rng.randint(8, 30), stride=rng.randint(0, 2), direction=rng.choice(("left", "right")))
    if rng.random() < 0.3:
        tokenizer.enable_padding(length=rng.choice((None, 25)), direction=rng.choice(("left", "right")), pad_id=3)
    return f"{number} {kind}", with_byte_fallback(tokenizer.to_str(), rng.random() < 0.5), [t.content for t in tokens]


__all__ = ["make_tokenizer"]
