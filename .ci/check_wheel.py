"""Check a wheel that is installed: what it holds, its size, and that it works."""

import subprocess
import sys
import time
import zipfile
from pathlib import Path

#: Bytes, some more than there are; a wheel that holds pictures or data by mistake is larger.
LARGEST = 1_500_000
TEN_LINES = """
import mercer, numpy as np
X = np.random.default_rng(0).uniform(size=(300, 2))
y = np.sin(6 * X[:, 0]) + X[:, 1]
model = mercer.KernelRegressor("gaussian").fit(X, y)
print(model.report_)
assert model.score(X, y) > 0.95
features = mercer.RandomFourier(model.kernel_, n_components=200, random_state=0).fit(X)
assert mercer.approximation_error(features, X).relative < 0.2
mercer.save(model, "model.mercer", compact=True)
assert (mercer.load("model.mercer").predict(X) == model.predict(X)).all()
"""


def check_content(wheel: Path) -> None:
    """Refuse a wheel that lacks files of the package, or holds others."""
    folder = Path(__file__).parent.parent / "src"
    wanted = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert found == wanted, f"missing {wanted - found}, unexpected {found - wanted}"
    assert "mercer/py.typed" in found
    size = wheel.stat().st_size
    assert size < LARGEST, f"{wheel.name} has {size:,} bytes"
    print(f"{wheel.name}: {len(found)} files, {size:,} bytes")


def check_import_time() -> None:
    """Refuse an ``import mercer`` that brings its libraries along: they are for later."""
    code = "import sys, mercer; sys.exit(any(m in sys.modules for m in ('numpy', 'sklearn')))"
    times = []
    for command in ("pass", code) * 3:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", command], check=True)
        times.append(time.perf_counter() - start)
    print(f"import mercer: {min(times[1::2]) - min(times[::2]):.3f} s")


def main() -> None:
    """Check the wheel that is named on the command line."""
    check_content(Path(sys.argv[1]))
    check_import_time()
    folder = Path(sys.argv[1]).absolute().parent
    subprocess.run([sys.executable, "-W", "error", "-c", TEN_LINES], check=True, cwd=folder)
    (folder / "model.mercer").unlink()


if __name__ == "__main__":
    main()
