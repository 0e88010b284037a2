"""Random texts that mix everything Unicode offers, for the comparison with the reference."""

import random

# First and last code points of ranges worth drawing from: scripts, marks, symbols, controls, specials, unassigned.
RANGES = [
    (0x20, 0x7E), (0x20, 0x7E), (0x20, 0x7E), (0x00, 0x1F), (0x7F, 0x9F), (0xA0, 0xFF), (0x100, 0x24F), (0x250, 0x2FF),
    (0x300, 0x36F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x58F), (0x590, 0x5FF), (0x600, 0x6FF),
    (0x700, 0x8FF), (0x900, 0x97F), (0x980, 0xDFF), (0xE00, 0xEFF), (0xF00, 0xFFF), (0x1000, 0x109F), (0x10A0, 0x10FF),
    (0x1100, 0x11FF), (0x1200, 0x13FF), (0x1400, 0x167F), (0x1680, 0x17FF), (0x1800, 0x1AFF), (0x1AB0, 0x1AFF),
    (0x1B00, 0x1CFF), (0x1D00, 0x1DFF), (0x1E00, 0x1EFF), (0x1F00, 0x1FFF), (0x2000, 0x206F), (0x2000, 0x200F),
    (0x2028, 0x202F), (0x2070, 0x209F), (0x20A0, 0x20FF), (0x2100, 0x218F), (0x2190, 0x23FF), (0x2400, 0x27BF),
    (0x2E80, 0x2FFF), (0x3000, 0x303F), (0x3040, 0x30FF), (0x3100, 0x33FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0x4E00, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7A3), (0xD7A4, 0xD7FF), (0xE000, 0xF8FF), (0xF900, 0xFAFF),
    (0xFB00, 0xFDFF), (0xFE00, 0xFE6F), (0xFE70, 0xFEFF), (0xFF00, 0xFFFF), (0x10000, 0x107FF), (0x10800, 0x10FFF),
    (0x11000, 0x11FFF), (0x12000, 0x167FF), (0x16800, 0x16FFF), (0x17000, 0x1BCFF), (0x1D000, 0x1D7FF),
    (0x1D800, 0x1EFFF), (0x1F000, 0x1F64F), (0x1F300, 0x1F9FF), (0x1FA00, 0x1FBFF), (0x20000, 0x2FA1F),
    (0x30000, 0x323AF), (0xE0000, 0xE01FF), (0xF0000, 0x10FFFF),
]  # fmt: skip

SPACES = [" ", " ", " ", "  ", "\t", "\n", "\r", "\r\n", "\n\n", "\u00a0", "\u2003", "\u3000", "\u2028", "\u200b", "\u0085"]

SEQUENCES = [
    "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "👍🏽", "1️⃣", "e\u0301", "ﬁ", "Å", "ＡＢＣ", "①②", "½", "Ⅷ", "ｶﾞ", "한국어", "각",
    "क्षि", "ก็", "עִבְרִית", "العَرَبِيَّة", "Việt Nam", "Straße", "İstanbul", "ΣΊΣΥΦΟΣ", "ǅ", "\ufeff", "\ufffd", "\u0000",
    "don't", "I'll", "WE'VE", "'s", "'", "''", "C++", "3.14", "1,234,567", "2024-01-31", "a_b", "user@example.com",
    "https://x.y/z?q=1&r=2", "\\n", "<b>", "##ing", "[UNK", "[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "<s>", "</s>",
    "<mask>", "<pad>", "<unk>", "<|endoftext|>", "<|startoftext|>", "<extra_id_0>", "▁", "Ġ", "<0x0A>",
    "the", "The", "unaffable", "tokenization", "Hello, world!", "naïve café", "東京都", "ไทย", "Привет",
]  # fmt: skip

WORDS = (
    "the of and to in a is that it was for on are as with his they at be this from have or by one had not but what all were "
    "when we there can an your which their said if do will each about how up out them then she many some so these would "
    "other into has more her two like him see time could no make than first been its who now people my made over did down "
    "only way find use may water long little very after words called just where most know"
).split()


class TextMaker:
    """Draws texts; equal seeds draw equal texts."""

    POOL, TEXTS_PER_POOL = 3000, 10000

    def __init__(self, seed, extra=()):
        self.random = random.Random(seed)
        self.sequences = SEQUENCES + list(extra)
        self.pool, self.texts_left = [], 0

    def character(self):
        low, high = self.random.choice(RANGES)
        cp = self.random.randint(low, high)
        return chr(cp) if not 0xD800 <= cp < 0xE000 else "\ufffd"

    def piece(self):
        pick = self.random.random()
        if pick < 0.3:
            word = self.random.choice(WORDS)
            return self.random.choice((word, word.capitalize(), word.upper())) if self.random.random() < 0.3 else word
        if pick < 0.5:
            low, high = self.random.choice(RANGES)
            count = self.random.randint(1, 6)
            return "".join(chr(c) for c in self.random.choices(range(low, high + 1), k=count) if not 0xD800 <= c < 0xE000)
        if pick < 0.65:
            return "".join(self.character() for _ in range(self.random.randint(1, 8)))
        if pick < 0.85:
            return self.random.choice(self.sequences)
        if pick < 0.9:
            return str(self.random.randint(0, 10 ** self.random.randint(1, 9)))
        if pick < 0.92:
            return self.random.choice((self.character(), "a", " ", "!", "1")) * self.random.randint(2, 150)
        return self.random.choice(SPACES)

    def spaced_piece(self):
        if self.random.random() < 0.5:
            return self.piece()
        return self.piece() + (self.random.choice(SPACES) if self.random.random() < 0.3 else " ")

    def text(self, most=12):
        """Some pieces from a pool that is made anew now and then: joining is quick, making pieces is not."""
        if self.texts_left == 0:
            self.pool, self.texts_left = [self.spaced_piece() for _ in range(self.POOL)], self.TEXTS_PER_POOL
        self.texts_left -= 1
        return "".join(self.random.choices(self.pool, k=int(self.random.random() * (most + 1))))

    def words(self, most=6):
        return [self.text(2) if self.random.random() < 0.2 else self.text(1) for _ in range(self.random.randint(0, most))]

    def any_input(self):
        pick = self.random.random()
        if pick < 0.75:
            return self.text()
        if pick < 0.9:
            return (self.text(), self.text())
        if pick < 0.96:
            return self.words()
        return (self.words(), self.words())
