"""The Python end of tokenizer_dump, and the same bytes made from the reference's encodings."""

import json
import struct
import subprocess
from array import array


class DumpError(Exception):
    pass


class Dump:
    """One tokenizer_dump process."""

    def __init__(self, executable):
        self.process = subprocess.Popen([executable], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)

    def ask(self, request, payload=b""):
        request = dict(request, bytes=len(payload))
        self.process.stdin.write(json.dumps(request).encode() + b"\n" + payload)
        self.process.stdin.flush()
        head = self.process.stdout.read(4)
        if len(head) < 4:
            raise DumpError(f"tokenizer_dump died (exit status {self.process.wait()}) on {request}")
        body = self.process.stdout.read(struct.unpack("<I", head)[0])
        if body[0] != 0:
            raise DumpError(body[1:].decode(errors="replace"))
        return body[1:]

    def load(self, path, **options):
        return json.loads(self.ask({"op": "load", "path": str(path), **options}))

    def encode(self, inputs, **options):
        """For each input either the bytes of its encoding or a DumpError."""
        body = self.ask({"op": "encode", **options}, b"".join(pack_input(item) for item in inputs))
        results, at = [], 0
        while at < len(body):
            status, size = struct.unpack_from("<II", body, at)
            chunk = body[at + 8 : at + 8 + size]
            results.append(DumpError(chunk.decode(errors="replace")) if status else chunk)
            at += 8 + size
        return results

    def encode_batch(self, inputs, **options):
        return self.ask({"op": "encode_batch", **options}, b"".join(pack_input(item) for item in inputs))

    def decode(self, ids, **options):
        return self.ask({"op": "decode", **options}, array("I", ids).tobytes())

    def ids(self, ids):
        """(token or None, id of that token or None) for each id."""
        body, at, results = self.ask({"op": "ids"}, array("I", ids).tobytes()), 0, []
        while at < len(body):
            known, back, size = struct.unpack_from("<III", body, at)
            token = body[at + 12 : at + 12 + size].decode()
            results.append((token if known else None, None if back == 0xFFFFFFFF else back))
            at += 12 + size
        return results

    def sizes(self):
        """Of the vocabulary with and without added tokens."""
        return tuple(json.loads(self.ask({"op": "sizes"})))

    def add_tokens(self, tokens):
        """tokens: the reference's AddedToken objects; returns how many were new."""
        flags = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
        return int(self.ask({"op": "add_tokens", "tokens": [{name: getattr(t, name) for name in flags} for t in tokens]}))

    def encode_special_tokens(self, on):
        self.ask({"op": "encode_special_tokens", "on": on})

    def time(self, texts, repeats, **options):
        return json.loads(self.ask({"op": "time", "repeats": repeats, **options}, b"".join(map(pack_string, texts))))


def pack_string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<I", len(data)) + data


def pack_text(text):
    if isinstance(text, (str, bytes)):
        return struct.pack("<I", 0) + pack_string(text)
    return struct.pack("<II", 1, len(text)) + b"".join(map(pack_string, text))


def pack_input(item):
    """item: a text, or a tuple of two; a text is a str, or a list of words."""
    if isinstance(item, tuple):
        return struct.pack("<I", 1) + pack_text(item[0]) + pack_text(item[1])
    return struct.pack("<I", 0) + pack_text(item)


def encoding_bytes(encoding):
    """What tokenizer_dump answers for this encoding of the reference."""
    none = lambda values: [-1 if value is None else value for value in values] if None in values else values
    tokens = [token.encode() for token in encoding.tokens]
    parts = [
        struct.pack("<I", len(tokens)),
        array("I", encoding.ids).tobytes(),
        array("I", encoding.type_ids).tobytes(),
        array("I", [x for pair in encoding.offsets for x in pair]).tobytes(),
        array("i", none(encoding.word_ids)).tobytes(),
        array("i", none(encoding.sequence_ids)).tobytes(),
        array("I", encoding.special_tokens_mask).tobytes(),
        array("I", encoding.attention_mask).tobytes(),
    ]
    overflowing = encoding.overflowing
    parts.append(array("I", map(len, tokens)).tobytes())
    parts.extend(tokens)
    parts.append(struct.pack("<I", len(overflowing)))
    parts.extend(map(encoding_bytes, overflowing))
    return b"".join(parts)


def describe(data):
    """Readable columns of one encoding's bytes, for reports of differences."""
    return pieces(data)[0]


def pieces(data):
    """The same for the encoding and all its overflowing pieces, however deep."""
    found, at = [], 0
    while at < len(data):
        columns, at = describe_one(data, at)
        found.append(columns)
    return found


def describe_one(data, at):
    size = struct.unpack_from("<I", data, at)[0]
    columns, at = {}, at + 4
    for name, kind, width in (
        ("ids", "I", 1), ("type_ids", "I", 1), ("offsets", "I", 2), ("word_ids", "i", 1),
        ("sequence_ids", "i", 1), ("special_tokens_mask", "I", 1), ("attention_mask", "I", 1),
    ):  # fmt: skip
        values = array(kind)
        values.frombytes(data[at : at + 4 * width * size])
        columns[name] = values.tolist()
        at += 4 * width * size
    lengths, columns["tokens"] = array("I"), []
    lengths.frombytes(data[at : at + 4 * size])
    at += 4 * size
    for length in lengths:
        columns["tokens"].append(data[at : at + length].decode(errors="replace"))
        at += length
    columns["overflowing"] = struct.unpack_from("<I", data, at)[0]
    return columns, at + 4
