"""Loaders of CIFAR-10: a file of JPEG images, and OpenML by a stand-in."""

import io

import numpy as np
import pytest
from sklearn.utils import Bunch

from mercer.datasets import fetch_cifar10, load_cifar10_jpeg


def coloured(n):
    """Return images of one colour each, which JPEG keeps."""
    colours = np.random.default_rng(0).integers(256, size=(n, 1, 1, 3), dtype=np.uint8)
    return np.broadcast_to(colours, (n, 32, 32, 3))


def written(path, n_train, n_test):
    image = pytest.importorskip("PIL.Image")
    arrays, kept = {}, {}
    for part, n in (("train", n_train), ("test", n_test)):
        files = []
        kept[part] = coloured(n)
        for pixels in kept[part]:
            file = io.BytesIO()
            image.fromarray(pixels).save(file, "JPEG", quality=95)
            files.append(file.getvalue())
        offsets = np.cumsum([0, *map(len, files)], dtype=np.int32)
        arrays[f"{part}_jpeg"] = np.frombuffer(b"".join(files), dtype=np.uint8)
        arrays[f"{part}_offsets"] = offsets
        arrays[f"{part}_labels"] = np.arange(n, dtype=np.uint8) % 10
    np.savez(path, class_names=np.asarray([f"class {k}" for k in range(10)]), **arrays)
    return kept


def test_jpeg_images_are_decoded(tmp_path):
    kept = written(tmp_path / "images.npz", 5, 3)
    data = load_cifar10_jpeg(tmp_path / "images.npz")
    assert data.images.dtype == np.uint8
    assert abs(data.images.astype(int) - kept["train"]).max() <= 3
    assert abs(data.test_images.astype(int) - kept["test"]).max() <= 3
    assert data.labels.tolist() == [0, 1, 2, 3, 4]
    assert data.names[1] == "class 1"
    few = load_cifar10_jpeg(tmp_path / "images.npz", n_train=2)
    assert few.images.shape == (2, 32, 32, 3)
    assert len(few.labels) == 2
    assert len(few.test_images) == 3


def test_another_file_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="no array 'train_labels', only x"):
        load_cifar10_jpeg(tmp_path / "other.npz")


def test_a_missing_decoder_is_named(tmp_path, monkeypatch):
    written(tmp_path / "images.npz", 1, 1)
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=r"mercer\[images\]"):
        load_cifar10_jpeg(tmp_path / "images.npz")


def test_openml_sends_planes_of_colours(monkeypatch):
    planes = np.zeros((60_000, 3, 1024), dtype=np.uint8)
    planes[7, 2, 33] = 200
    sent = Bunch(data=planes.reshape(60_000, -1), target=np.full(60_000, "3"))
    asked = {}

    def stand_in(name, **options):
        asked.update(options, name=name)
        return sent

    monkeypatch.setattr("sklearn.datasets.fetch_openml", stand_in)
    data = fetch_cifar10(data_home="somewhere")
    assert asked["name"] == "CIFAR_10"
    assert asked["data_home"] == "somewhere"
    assert data.images.shape == (50_000, 32, 32, 3)
    assert data.test_images.shape == (10_000, 32, 32, 3)
    assert data.images[7, 1, 1].tolist() == [0, 0, 200]
    assert data.images.sum() == 200
    assert set(data.test_labels.tolist()) == {3}
    sent.data = sent.data[:, :5]
    with pytest.raises(ValueError, match="5 columns"):
        fetch_cifar10()
