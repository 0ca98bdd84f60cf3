"""Measure with pyright how many public names have types that tools know, and demand a share."""

import json
import os
import subprocess
import sys
from pathlib import Path

#: The least share of names with known types.
WANTED = 0.95


def main() -> None:
    """Print the share and the names without a type; fail below the wanted share."""
    # pyright looks for the package where the first `python` of the path has its own.
    folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]}
    command = [folder + "/pyright", "--verifytypes", "mercer", "--ignoreexternal", "--outputjson"]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = json.loads(output.stdout)["typeCompleteness"]
    for symbol in found["symbols"]:
        if symbol["isExported"] and not symbol["isTypeKnown"]:
            print(f"{symbol['name']}: its type is not known")
    share = found["completenessScore"]
    print(f"{share:.1%} of the public names have types that are known; {WANTED:.0%} are wanted.")
    sys.exit(share < WANTED)


if __name__ == "__main__":
    main()
