#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train.py  Wrote demo/digits: the held-out images, and the weights of a small network.

Needs numpy, ml_dtypes, safetensors and (for the images) scikit-learn; the demo itself needs none of
them. The last 600 of the 1797 images are held out: training never sees them. Settings were compared
on four blocks of 300 training images, each left out in turn (the images come writer by writer, so a
block is new handwriting); the held-out images are for the last line that this prints.
Run: python3 demo/train.py        reproduces the files bit for bit with the same numpy
"""
import pathlib

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file
from sklearn.datasets import load_digits

FOLDER = pathlib.Path(__file__).resolve().parent / "digits"
HELD_OUT, HIDDEN, EPOCHS, BATCH, RATE, DECAY, SEED = 600, 128, 60, 64, 2e-3, 1e-3, 1


def shifted(images, rng):
    """The images, a third of them moved by up to one pixel: a cheap way to see more handwriting."""
    out = images.copy()
    for i in np.flatnonzero(rng.random(len(images)) < 1 / 3):
        dy, dx = rng.integers(-1, 2, 2)
        padded = np.pad(images[i].reshape(8, 8), 1)
        out[i] = padded[1 + dy:9 + dy, 1 + dx:9 + dx].ravel()
    return out


def forward(w, x):
    hidden = np.maximum(x @ w["weight1"] + w["bias1"], 0)
    return hidden, hidden @ w["weight2"] + w["bias2"]


def train(images, labels):
    """Adam on cross entropy. Pixels are 0 to 16; the first weights are scaled for that."""
    rng = np.random.default_rng(SEED)
    w = {"weight1": rng.normal(0, (2 / 64) ** 0.5 / 8, (64, HIDDEN)), "bias1": np.zeros(HIDDEN),
         "weight2": rng.normal(0, (2 / HIDDEN) ** 0.5, (HIDDEN, 10)), "bias2": np.zeros(10)}
    mean = {k: np.zeros_like(v) for k, v in w.items()}
    square = {k: np.zeros_like(v) for k, v in w.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = rng.permutation(len(images))
        moved = shifted(images, rng)
        for at in range(0, len(order), BATCH):
            chosen = order[at:at + BATCH]
            x, y = moved[chosen], labels[chosen]
            hidden, logits = forward(w, x)
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            p[np.arange(len(y)), y] -= 1
            p /= len(y)
            back = (p @ w["weight2"].T) * (hidden > 0)
            slope = {"weight2": hidden.T @ p, "bias2": p.sum(0), "weight1": x.T @ back,
                     "bias1": back.sum(0)}
            step += 1
            for k in w:
                mean[k] = 0.9 * mean[k] + 0.1 * slope[k]
                square[k] = 0.999 * square[k] + 0.001 * slope[k] ** 2
                update = mean[k] / (1 - 0.9 ** step)
                update /= np.sqrt(square[k] / (1 - 0.999 ** step)) + 1e-8
                w[k] -= rate * (update + (DECAY * w[k] if k.startswith("weight") else 0))
    return w


def main():
    digits = load_digits()
    images, labels = digits.data, digits.target
    FOLDER.mkdir(exist_ok=True)
    parts = {"train": slice(0, -HELD_OUT), "test": slice(-HELD_OUT, None)}
    test = parts["test"]
    np.save(FOLDER / "images.npy", images[test].astype(np.float16))
    np.save(FOLDER / "labels.npy", labels[test].astype(np.uint8))
    w = train(images[parts["train"]], labels[parts["train"]])
    rounded = {k: v.astype(ml_dtypes.bfloat16) for k, v in w.items()}
    save_file(rounded, FOLDER / "weights.safetensors",
              metadata={"network": "64 pixels -> 128 ReLU -> 10", "made by": "demo/train.py"})
    w = {k: v.astype(np.float64) for k, v in rounded.items()}
    for name, part in parts.items():
        right = forward(w, images[part])[1].argmax(1) == labels[part]
        print(f"{name}: {right.sum()} of {len(right)} right, {100 * right.mean():.2f} %")


if __name__ == "__main__":
    main()
