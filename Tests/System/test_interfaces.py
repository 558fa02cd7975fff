"""The interface files, read by third-party parsers: PyPI's 'varlink' and Debian's Go library.

root_package.py reads them with systemd's varlinkctl, on a system that has it.
"""

import glob
import os
import subprocess

from go_client import built
from harness import ROOT, Skip, expect, main, test

FILES = sorted(glob.glob(os.path.join(ROOT, "Sources", "HandoffControl", "Interfaces", "*.varlink")))


@test("the Python scanner reads the interface files, and finds their members")
def python_scanner(stage):
    try:
        import varlink
        from varlink.scanner import Interface
    except ImportError:
        raise Skip("the Python package 'varlink' is not installed (pip install varlink)") from None
    expect(len(FILES) >= 2, f"too few interface files: {FILES}")
    for path in FILES:
        with open(path) as file:
            text = file.read()
        interface = Interface(text)
        expect(interface.name == os.path.basename(path).removesuffix(".varlink"), f"{path}: {interface.name}")
        for word in ("method", "error", "type"):
            written = {line.split()[1].split("(")[0] for line in text.splitlines() if line.startswith(word + " ")}
            expect(written <= set(interface.members), f"{path}: the scanner misses {written - set(interface.members)}")


@test("the Go library reads the interface files, and rejects an invalid one")
def go_library(stage):
    client = built(stage)
    done = subprocess.run([client, "read", *FILES], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    with open(FILES[0]) as file:
        broken = stage.file("broken.varlink", file.read() + "\nmethod Half(\n")
    expect(subprocess.run([client, "read", broken], capture_output=True).returncode == 1, "it accepts half a method")


@test("the interface files use only the syntax that all parsers accept")
def house_rules(stage):
    for path in FILES:
        with open(path, "rb") as file:
            text = file.read()
        expect(b"\r" not in text and b"\t" not in text, f"{path}: carriage returns or tabs")
        expect(b"[string]()" not in text, f"{path}: systemd's parser does not accept a set of strings")
        for number, line in enumerate(text.decode().splitlines(), 1):
            if line.startswith("error "):
                expect("(" in line, f"{path}:{number}: an error needs parentheses")


if __name__ == "__main__":
    main()
