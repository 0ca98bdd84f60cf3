"""Which changes of the features help on CIFAR-10: held-out accuracy, one run of a few minutes.

``python -m benchmarks.gpu.cntk_try --cifar cifar10.npz --out DIR`` on a machine with CUDA. Lines
are printed and written as they are found; no case begins after ``--seconds``.
"""

from __future__ import annotations

import json
import math
import time
import traceback
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
import torch.nn.functional as F

import mercer
from mercer import CNTKSketch
from mercer.features.cntk import maps, random_layers
from mercer.ops.gates import relu_and_gated
from mercer.preprocessing import ImageWhitening

from ..options import out_option
from .cntk import Clock, loaded


class OneTap:
    """A patch sketch with one neighbour for each column."""

    def __init__(self, n_channels: int, size: int, seed: int) -> None:
        g = torch.Generator().manual_seed(seed)
        self.n_channels, self.size = n_channels, size
        self.blocks = []
        for part in np.array_split(np.arange(size), 9):
            start = int(torch.randint(n_channels, (1,), generator=g))
            self.blocks.append((start + np.arange(len(part))) % n_channels)

    def sketch(self, images: Any, xp: Any) -> Any:
        if isinstance(images, np.ndarray):
            return self.sketch(torch.as_tensor(images), xp).numpy()
        n, height, width, _ = images.shape
        padded = F.pad(images, (0, 0, 1, 1, 1, 1))
        parts = []
        for k, channels in enumerate(self.blocks):
            down, right = divmod(k, 3)
            there = padded[:, down : down + height, right : right + width]
            where = torch.as_tensor(channels, device=images.device)
            parts.append(there.index_select(3, where))
        out = torch.cat(parts, 3) * math.sqrt(self.n_channels / self.size)
        return out.reshape(-1, self.size)


class Dense:
    """Projections of patches by independent normal weights."""

    def __init__(self, n_channels: int, size: int, seed: int) -> None:
        g = torch.Generator().manual_seed(seed)
        self.n_channels = n_channels
        self.weight = torch.randn(size, n_channels, 3, 3, generator=g) / 3

    def sketch(self, images: Any, xp: Any) -> Any:
        if isinstance(images, np.ndarray):
            return self.sketch(torch.as_tensor(images), xp).numpy()
        x = images[..., : self.n_channels].permute(0, 3, 1, 2)
        weight = self.weight.to(x.device, x.dtype).to(memory_format=torch.channels_last)
        out = F.conv2d(x.contiguous(memory_format=torch.channels_last), weight, padding=1)
        return out.permute(0, 2, 3, 1).reshape(-1, weight.shape[0])


class Tried(random_layers.RandomLayers):
    """Layers with some changes."""

    how: dict[str, Any] = {}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        own = zip(self._widths[:-1], self._widths[1:], strict=True)
        for layer, (before, now) in enumerate(own):
            if self.how.get("taps") == 1:
                self._of_both[layer] = OneTap(before.both, now.tangent, layer)
            if self.how.get("dense"):
                size = random_layers.n_directions(max(now.relu, now.tangent))
                self._of_relu[layer] = Dense(before.relu, size, 100 + layer)

    def _next(self, layer: int, s: Any, t: Any, xp: Any) -> Any:
        if self.how.get("dense"):
            return random_layers.relu_and_gated(s, t, self._widths[layer].relu, xp)
        return super()._next(layer, s, t, xp)


def gated(kind: str) -> Any:
    """Return another gate than the step."""

    def layer(P: Any, Y: Any, n_relu: int, xp: Any, out: Any = None) -> Any:
        if isinstance(P, np.ndarray):
            return layer(torch.as_tensor(P), torch.as_tensor(Y), n_relu, xp).numpy()
        size = random_layers.n_directions(Y.shape[1])
        both = torch.cat([P[:, :size], -P[:, : Y.shape[1] - size]], 1)
        root = P.float().square().mean(1, keepdim=True).sqrt().clamp_min(1e-20).to(P.dtype)
        z = both / root
        if kind == "linear":
            gates = 0.5 + 0.3989 * z
        elif kind == "sign":
            gates = 0.5 * torch.sign(z)
        else:
            gates = 0.5 * (1 + torch.erf(z / (float(kind) * 2**0.5)))
        half = random_layers.n_directions(n_relu)
        relu = torch.cat([P[:, :half], -P[:, : n_relu - half]], 1).relu()
        relu = relu * math.sqrt(2 / max(n_relu, 1))
        return torch.cat([relu, (gates * Y * math.sqrt(2)).to(Y.dtype)], 1)

    return layer


def features(rows: Any, shape: Any, how: dict[str, Any], clock: Clock) -> tuple[Any, float]:
    """Return features, and seconds."""
    Tried.how = how
    maps.RandomLayers = Tried if how.get("taps") or how.get("dense") else random_layers.RandomLayers
    maps.RELU_SHARE = how.get("share", 0.5)
    random_layers.relu_and_gated = gated(how["gate"]) if "gate" in how else relu_and_gated
    made = CNTKSketch(
        how.get("depth", 3), 3, how.get("m", 4096), width=how.get("w", 1024), method="random",
        image_shape=shape, random_state=how.get("seed", 0),
    )  # fmt: skip
    made.fit(rows[:2])
    with mercer.config(memory="14GB", block_rows=how.get("block", 64), precision="bfloat16"):
        made.transform(rows[:64])
        torch.cuda.synchronize() if rows.is_cuda else None
        start = time.perf_counter()
        Z = made.transform(rows)
        if how.get("flip"):
            images = rows.reshape(-1, *shape)
            Z = (Z + made.transform(images.flip(2).reshape(rows.shape))) / 2
        torch.cuda.synchronize() if rows.is_cuda else None
    return Z.float(), time.perf_counter() - start


def scores(Z: Any, labels: Any, n_fit: int) -> dict[str, Any]:
    """Return the best of a path of ridge parameters on held-out rows, by squared error."""
    mean = Z[:n_fit].mean(0)
    Z = Z - mean
    G = torch.zeros(Z.shape[1], Z.shape[1], dtype=torch.float64, device=Z.device)
    T = F.one_hot(labels.long(), 10).double() - 0.1
    B = torch.zeros(Z.shape[1], 10, dtype=torch.float64, device=Z.device)
    for i in range(0, n_fit, 5000):
        part = Z[i : min(i + 5000, n_fit)]
        G += (part.T @ part).double()
        B += part.double().T @ T[i : i + len(part)]
    trace = float(G.diagonal().sum())
    best: dict[str, Any] = {"R2": -9.0}
    for share in 10.0 ** np.arange(-7.5, -2.9, 0.5):
        L, failed = torch.linalg.cholesky_ex(
            G + share * trace * torch.eye(len(G), dtype=torch.float64, device=G.device)
        )
        if int(failed):
            continue
        W = torch.cholesky_solve(B, L)
        f = Z[n_fit:].double() @ W
        r2 = 1 - float((f - T[n_fit:]).square().sum() / T[n_fit:].square().sum())
        if r2 > best["R2"]:
            right = float((f.argmax(1) == labels[n_fit:]).double().mean())
            best = {"R2": round(r2, 4), "accuracy %": round(100 * right, 2), "share": float(share)}
    return best


def reduced(Z: Any, n_fit: int, size: int) -> tuple[Any, float]:
    """Return Z in the span of about its first principal components, and seconds."""
    start = time.perf_counter()
    mean = Z[:n_fit].mean(0)
    part = Z[: min(n_fit, 20000)] - mean
    G = part.T @ part
    Q = torch.randn(len(G), min(len(G), size + size // 8), device=Z.device)
    for _ in range(3):
        Q = torch.linalg.qr(G @ Q)[0]
    e, V = torch.linalg.eigh(Q.T @ (G @ Q))
    Z = (Z - mean) @ (Q @ V[:, -size:])
    torch.cuda.synchronize() if Z.is_cuda else None
    return Z, time.perf_counter() - start


@click.command()
@click.option("--small", is_flag=True)
@click.option("--seconds", default=215.0)
@click.option("--only", default="")
@click.option("--round", "which", default="1")
@click.option("--cifar", type=click.Path(path_type=Path), envvar="MERCER_CIFAR", required=True)
@out_option
def main(small: bool, seconds: float, only: str, which: str, cifar: Path, out: Path) -> None:
    """Try changes."""
    device = "cpu" if small else "cuda"
    torch.backends.cuda.matmul.allow_tf32 = False
    mercer.set_config(progress=False)
    clock = Clock(device)
    data = loaded(cifar, device, small)
    n_fit = int(0.9 * data.n_train)
    images, labels = data.images[: data.n_train], data.labels[: data.n_train]
    found: list[dict[str, Any]] = []
    out.mkdir(parents=True, exist_ok=True)

    def prepared(kind: str) -> Any:
        x = images.float()
        if kind == "channel":
            planes = x.reshape(-1, data.shape[2])
            return ((planes - planes.mean(0)) / planes.std(0)).reshape(x.shape)
        with mercer.config(memory="4GB", precision="float32"):
            whitening = ImageWhitening(None if kind == "image" else float(kind))
            return whitening.fit(x[:n_fit]).transform(x)

    def tried(name: str, rows: Any, **how: Any) -> float:
        if time.perf_counter() - clock.begin > seconds or only not in name:
            return -1.0
        try:
            if small:
                how = {**how, "m": how.get("m", 4096) // 32, "w": how.get("w", 1024) // 32}
            Z, took = features(rows, data.shape, how, clock)
            row = {"what": name, "seconds": round(took, 2), **scores(Z, labels, n_fit)}
            found.append(row)
            clock.say(json.dumps(row))
            for part in how.get("parts", ()):
                size = part // 32 if small else part
                less, took = reduced(Z, n_fit, size)
                more = {"what": f"{name}, {size} components", "seconds": round(took, 2)}
                found.append({**more, **scores(less, labels, n_fit)})
                clock.say(json.dumps(found[-1]))
            return float(row["R2"])
        except Exception:
            traceback.print_exc()
            clock.say(f"{name} failed")
            return -1.0
        finally:
            (out / f"cntk_try_{which}.json").write_text(json.dumps(found, indent=1))

    if which == "1":
        first(prepared, tried)
    clock.say("done")


def first(prepared: Any, tried: Any) -> None:
    """Compare preparations, then changes of the layers."""
    marks = {}
    for kind in ("1", "10", "image", "channel", "100", "3"):
        marks[kind] = tried(f"prepared by {kind}", prepared(kind))
    best = max(marks, key=lambda kind: marks[kind])
    rows = prepared(best)
    tried("wide", rows, m=16384, parts=(4096, 8192), block=32)
    tried("one tap", rows, taps=1)
    tried("dense", rows, dense=True)
    tried("inner 512", rows, w=512)
    tried("inner 2048", rows, w=2048)
    tried("flipped", rows, flip=True)
    tried("linear gate", rows, gate="linear")
    tried("smooth gate 1", rows, gate="1")
    tried("share 0.25", rows, share=0.25)
    tried("share 0.75", rows, share=0.75)
    tried("wide, inner 512", rows, m=16384, w=512, parts=(4096,), block=32)
    tried("wide, one tap", rows, m=16384, taps=1, parts=(4096,), block=32)
    tried("sign gate", rows, gate="sign")
    tried("depth 2", rows, depth=2)
    tried("depth 4", rows, depth=4)


if __name__ == "__main__":
    main()
