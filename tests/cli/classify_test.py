#!/usr/bin/env python3
"""classify: the built-in model beside ONNX Runtime and tokenizers, and small models with every kind of head."""
import json
import shutil

import numpy as np
import onnxruntime
import program
import tokenizers
from onnx import TensorProto, helper, numpy_helper
from program import ROOT, Folder, sardonyx

MODEL = ROOT / "models" / "sentiment"


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sentences(count):
    """Labelled sentences of the model's data, with some of other lengths and scripts."""
    texts = [row[0] if isinstance(row, list) else row.get("text", row.get("sentence")) for row in json.loads((MODEL / "data" / "imdb.json").read_text())]
    return texts[:count] + ["", "!", "x " * 600, "Ça va très bien", "日本語 です", "tab\tand  spaces", "🙂🙃"]


class BuiltIn(Folder):
    def test_like_onnx_runtime(self):
        texts = sentences(60)
        (self.folder / "texts.txt").write_text("\n".join(texts) + "\n")
        lines = sardonyx("classify", MODEL, "--file", self.folder / "texts.txt", "--all", "--json").splitlines()
        got = [json.loads(line) for line in lines]
        self.assertEqual(len(got), len(texts))

        tokenizer = tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        options = onnxruntime.SessionOptions()  # from "extended" on it computes int8 products, which are 1e-3 off
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        session = onnxruntime.InferenceSession(str(MODEL / "model.onnx"), options, providers=["CPUExecutionProvider"])
        labels = ["NEGATIVE", "POSITIVE"]
        for text, answer in zip(texts, got):
            whole = tokenizer.encode(text)
            ids = whole.ids if len(whole.ids) <= 512 else whole.ids[:511] + whole.ids[-1:]
            feed = {"input_ids": [ids], "attention_mask": [[1] * len(ids)], "token_type_ids": [[0] * len(ids)]}
            feed = {i.name: np.array(feed[i.name], np.int64) for i in session.get_inputs()}
            expected = softmax(session.run(None, feed)[0].astype(np.float64))[0]
            scores = {s["label"]: s["score"] for s in answer["scores"]}
            for label, score in zip(labels, expected):
                self.assertAlmostEqual(scores[label], score, delta=1e-5, msg=text[:60])
            self.assertEqual(answer["label"], labels[int(expected.argmax())])
            self.assertEqual((answer["tokens"], answer["truncated"]), (len(whole.ids), len(whole.ids) > 512))

    def test_where_texts_come_from(self):
        texts = ["What a lovely day.", "The worst ever."]
        (self.folder / "t.txt").write_text("\r\n".join(texts))
        by_argument = sardonyx("classify", MODEL, *texts)
        self.assertEqual(by_argument, sardonyx("classify", MODEL, stdin="\n".join(texts)))
        self.assertEqual(by_argument, sardonyx("classify", MODEL, "--file", self.folder / "t.txt"))
        self.assertEqual(by_argument, sardonyx("classify", MODEL, "--file", "-", stdin="\n".join(texts) + "\n"))
        self.assertEqual([line.split()[0] for line in by_argument.splitlines()], ["POSITIVE", "NEGATIVE"])

    def test_a_text_alone_and_among_others(self):
        texts = sentences(20)[:20]
        together = sardonyx("classify", MODEL, "--json", "--all", stdin="\n".join(texts)).splitlines()
        for text, line in list(zip(texts, together))[::5]:
            self.assertEqual(sardonyx("classify", MODEL, "--json", "--all", text).strip(), line)

    def test_max_length(self):
        answer = json.loads(sardonyx("classify", MODEL, "--json", "--max-length", "8", "one two three four five six seven eight"))
        self.assertTrue(answer["truncated"])
        self.assertIn("512", sardonyx("classify", MODEL, "--max-length", "513", "x", expect=10))

    def test_text_that_is_not_utf8(self):
        (self.folder / "t.txt").write_bytes(b"fine\n\xff\xfe\n")
        sardonyx("classify", MODEL, "--file", self.folder / "t.txt", expect=10)


class Heads(Folder):
    """A model that looks each token up in a table of logits and takes the mean over those that the mask shows."""

    def model(self, labels, config, inputs=("input_ids", "attention_mask"), batch="batch", sequence="sequence", name="model.onnx", element=TensorProto.INT64):
        rng = np.random.default_rng(5)
        self.table = (rng.standard_normal((30522, labels)) * 4).astype(np.float32)
        shape = [batch, sequence]
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"])]
        if "attention_mask" in inputs:
            nodes += [helper.make_node("Cast", ["attention_mask"], ["shown"], to=TensorProto.FLOAT),
                      helper.make_node("Unsqueeze", ["shown", "last"], ["column"]),
                      helper.make_node("Mul", ["rows", "column"], ["kept"]),
                      helper.make_node("ReduceSum", ["kept", "tokens"], ["sum"], keepdims=0),
                      helper.make_node("ReduceSum", ["column", "tokens"], ["count"], keepdims=0),
                      helper.make_node("Div", ["sum", "count"], ["logits"])]
        else:
            nodes += [helper.make_node("ReduceMean", ["rows"], ["logits"], axes=[1], keepdims=0)]
        constants = [numpy_helper.from_array(self.table, "table"), numpy_helper.from_array(np.array([2]), "last"), numpy_helper.from_array(np.array([1]), "tokens")]
        self.save(nodes, [(i, element, shape) for i in inputs], [("logits", TensorProto.FLOAT, [batch, labels])], constants, name=name)
        for file in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(MODEL / file, self.folder / file)
        (self.folder / "config.json").write_text(json.dumps(config))
        self.tokenizer = tokenizers.Tokenizer.from_file(str(MODEL / "tokenizer.json"))
        self.tokenizer.no_padding()

    def logits(self, text):
        return self.table[self.tokenizer.encode(text).ids].astype(np.float64).mean(0)

    def scores(self, text="some words here", *options):
        answer = json.loads(sardonyx("classify", self.folder, "--json", "--all", text, *options))
        return {s["label"]: s["score"] for s in answer["scores"]}

    def check(self, labels, expected, text="some words here"):
        got = self.scores(text)
        self.assertEqual(set(got), set(labels))
        np.testing.assert_allclose([got[l] for l in labels], expected, atol=1e-5)

    def test_single_label(self):
        self.model(3, {"id2label": {"0": "a", "1": "b", "2": "c"}})
        self.check("abc", softmax(self.logits("some words here")))

    def test_multi_label(self):
        self.model(3, {"id2label": {"0": "a", "1": "b", "2": "c"}, "problem_type": "multi_label_classification"})
        self.check("abc", sigmoid(self.logits("some words here")))

    def test_regression(self):
        self.model(1, {"id2label": {"0": "stars"}, "problem_type": "regression"})
        self.check(["stars"], self.logits("some words here"))

    def test_one_logit(self):
        self.model(1, {})
        self.check(["LABEL_0"], sigmoid(self.logits("some words here")))
        self.model(1, {"id2label": {"0": "no", "1": "yes"}})
        p = sigmoid(self.logits("some words here"))[0]
        self.check(["no", "yes"], [1 - p, p])

    def test_inputs_as_the_model_asks(self):
        self.model(2, {}, inputs=("input_ids",))
        self.check(["LABEL_0", "LABEL_1"], softmax(self.logits("some words here")))
        self.model(2, {}, element=TensorProto.INT32)
        self.check(["LABEL_0", "LABEL_1"], softmax(self.logits("some words here")))

    def test_fixed_sizes(self):
        self.model(2, {}, batch=2, sequence=16)
        self.check(["LABEL_0", "LABEL_1"], softmax(self.logits("some words here")))
        answer = json.loads(sardonyx("classify", self.folder, "--json", "word " * 30))
        self.assertEqual((answer["tokens"], answer["truncated"]), (32, True))
        lines = sardonyx("classify", self.folder, "--json", "one", "two", "three").splitlines()
        self.assertEqual(len(lines), 3)

    def test_the_shortest_limit_counts(self):
        self.model(2, {"model_type": "roberta", "max_position_embeddings": 12, "pad_token_id": 1})
        answer = json.loads(sardonyx("classify", self.folder, "--json", "word " * 30))
        self.assertEqual((answer["tokens"], answer["truncated"]), (32, True))
        self.assertAlmostEqual(answer["score"], softmax(self.table[[101] + self.tokenizer.encode("word " * 8).ids[1:-1] + [102]].astype(np.float64).mean(0)).max(), places=5)

    def test_model_files(self):
        self.model(2, {}, name="onnx/model_quantized.onnx")
        self.scores()
        shutil.copy(self.folder / "onnx/model_quantized.onnx", self.folder / "onnx/other.onnx")
        self.assertIn("--model-file", sardonyx("classify", self.folder, "x", expect=13))
        self.scores("some words here", "--model-file", "onnx/other.onnx")

    def test_what_is_no_classifier(self):
        self.model(2, {"id2label": {"0": "a", "1": "b", "2": "c"}})
        self.assertIn("id2label", sardonyx("classify", self.folder, "x", expect=11))
        self.save([helper.make_node("Relu", ["pixels"], ["y"])], [("pixels", TensorProto.FLOAT, ["n", 3])], [("y", TensorProto.FLOAT, ["n", 3])])
        self.assertIn("input_ids", sardonyx("classify", self.folder, "x", expect=12))
        (self.folder / "config.json").write_text("{")
        self.assertIn("config.json", sardonyx("classify", self.folder, "x", expect=10))


if __name__ == "__main__":
    program.main()
