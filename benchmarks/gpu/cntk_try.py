"""Which changes of the features help on CIFAR-10: held-out accuracy, one run of a few minutes.

``python -m benchmarks.gpu.cntk_try --cifar cifar10.npz --out DIR`` on a machine with CUDA. Lines
are printed and written as they are found; no case begins after ``--seconds``.
"""

from __future__ import annotations

import json
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
from mercer.features.cntk import maps
from mercer.ops import gates
from mercer.preprocessing import ImageWhitening

from ..options import out_option
from .cntk import Clock, loaded


def features(rows: Any, shape: Any, how: dict[str, Any], clock: Clock) -> tuple[Any, float]:
    """Return features, and seconds."""
    maps.RELU_SHARE = how.get("share", 0.5)
    made = CNTKSketch(
        how.get("depth", 3), 3, how.get("m", 4096), width=how.get("w", 1024), method="random",
        degree=how.get("degree"), image_shape=shape, random_state=how.get("seed", 0),
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
    for share in 10.0 ** np.arange(-9.0, -3.9, 0.5):
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
@click.option("--round", "which", default="2")
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

    def profiled(rows: Any) -> None:
        from torch.profiler import ProfilerActivity, profile

        made = CNTKSketch(3, 3, 4096, width=1024, degree=2, image_shape=data.shape, random_state=0)
        made.fit(rows[:2])
        kinds = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
        with mercer.config(memory="14GB", block_rows=64, precision="bfloat16"):
            made.transform(rows[:64])
            with profile(activities=kinds) as seen:
                made.transform(rows[:640])
        order = "cuda_time_total" if rows.is_cuda else "cpu_time_total"
        print(seen.key_averages().table(sort_by=order, row_limit=14, max_name_column_width=50))

    some = torch.randn(6, images.shape[1], device=device)
    made = CNTKSketch(3, 3, 512, degree=2, image_shape=data.shape, random_state=0).fit(some)
    host = made.transform(some.cpu().numpy())
    for fused in (True, False):
        if not fused:
            gates.has_fused_kernels = lambda _: False
        try:
            apart = np.linalg.norm(made.transform(some).cpu().numpy() - host)
            clock.say(f"fused={fused}: apart from NumPy by {apart / np.linalg.norm(host):.1e}")
            if apart < 1e-3 * np.linalg.norm(host):
                break
        except Exception:
            traceback.print_exc()
    second(prepared, tried, (lambda rows: None) if small else profiled)
    clock.say("done")


def second(prepared: Any, tried: Any, profiled: Any) -> None:
    """Compare degrees and preparations, then what else there is."""
    images = prepared("100")
    marks = {"100": tried("100, degree 2", images, degree=2)}
    tried("100, ReLU", images)
    tried("100, degree 4", images, degree=4)
    tried("image, degree 2", prepared("image"), degree=2)
    for kind in ("30", "300"):
        marks[kind] = tried(f"{kind}, degree 2", prepared(kind), degree=2)
    best = max(marks, key=lambda kind: marks[kind])
    images = prepared(best)
    profiled(images)
    tried("16,384", images, degree=2, m=16384, parts=(4096, 8192), block=64)
    tried("mirrored", images, degree=2, flip=True)
    tried("inner 512", images, degree=2, w=512)
    tried("inner 2048", images, degree=2, w=2048)
    tried("share 0.75", images, degree=2, share=0.75)
    tried("mirrored 16,384", images, degree=2, m=16384, flip=True, parts=(8192,))
    tried("8,192", images, degree=2, m=8192)
    tried("depth 4", images, degree=2, depth=4)
    tried("share 0.25", images, degree=2, share=0.25)
    tried("16,384, inner 2048", images, degree=2, m=16384, w=2048)
    tried("block 256", images, degree=2, block=256)
    tried("block 16", images, degree=2, block=16)
    tried("depth 2", images, degree=2, depth=2)


if __name__ == "__main__":
    main()
