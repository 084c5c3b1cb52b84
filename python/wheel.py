#!/usr/bin/env python3
"""wheel.py BINARY SYSTEM/MACHINE VERSION DIR: writes a wheel of the package with the program inside.

It needs nothing but the standard library, and equal inputs give equal wheels.
"""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_11_0_x86_64",
    "darwin/arm64": "macosx_11_0_arm64",
}


def normal(version):
    """A version of git describe (v1.2-3-g0123abc-dirty) as Python writes versions (1.2.post3+g0123abc.dirty)."""
    m = re.fullmatch(r"v?(\d+(?:\.\d+)*)(?:-(\d+)-(g[0-9a-f]+))?(-dirty)?", version)
    if m is None:  # no tag: only a hash
        return "0.0.0+" + re.sub(r"[^0-9a-z]+", ".", version.lower()).strip(".")
    number, commits, commit, dirty = m.groups()
    local = ".".join(x for x in (commit, "dirty" if dirty else None) if x)
    return number + (f".post{commits}" if commits else "") + (f"+{local}" if local else "")


def build(binary, target, version, folder):
    """Write the wheel and return its path."""
    here = Path(__file__).parent
    version, tag = normal(version), TAGS[target]
    info = f"slackline-{version}.dist-info"
    files = {f"slackline/{p.name}": (p.read_bytes(), False) for p in sorted((here / "slackline").iterdir()) if p.suffix in (".py", ".typed")}
    files["slackline/bin/slackline"] = (Path(binary).read_bytes(), True)
    root = here.parent
    files[f"{info}/licenses/LICENSE"] = ((root / "LICENSE").read_bytes(), False)
    metadata = (
        f"Metadata-Version: 2.1\nName: slackline\nVersion: {version}\nSummary: slackline for MPI performance, as data frames\n"
        "Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n"
    ).encode() + (here / "README.md").read_bytes()
    files[f"{info}/METADATA"] = (metadata, False)
    wheel = "Wheel-Version: 1.0\nGenerator: slackline\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))
    files[f"{info}/WHEEL"] = (wheel.encode(), False)
    files[f"{info}/entry_points.txt"] = (b"[console_scripts]\nslackline = slackline.__main__:main\n", False)
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n" for name, (data, _) in files.items()
    )
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), False)
    path = Path(folder) / f"slackline-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, (data, executable) in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[2] not in TAGS:
        sys.exit(__doc__ + "\nSYSTEM/MACHINE is one of " + ", ".join(TAGS))
    print(build(*sys.argv[1:]))
