"""The labelled sentences, and which of them are held out."""
import json
import pathlib

import numpy as np

DATA = pathlib.Path(__file__).resolve().parent / "data"
SOURCES = ["amazon", "imdb", "yelp"]
HELD_OUT_SHARE = 0.15


def load_split(seed):
    """-> (training, held-out), lists of (text, label); each source and label gives the same share to both.
    A sentence that occurs twice is kept once, so that none is on both sides."""
    rng = np.random.default_rng(seed)
    training, held_out, seen = [], [], set()
    for source in SOURCES:
        rows = json.loads((DATA / f"{source}.json").read_text())
        for label in (0, 1):
            texts = []
            for row in rows:
                key = row["text"].strip().lower()
                if row["class"] == label and key not in seen:
                    seen.add(key)
                    texts.append(row["text"].strip())
            order = rng.permutation(len(texts))
            held = round(len(texts) * HELD_OUT_SHARE)
            held_out += [(texts[i], label) for i in order[:held]]
            training += [(texts[i], label) for i in order[held:]]
    return training, held_out
