"""The interface files, read by the parsers of others: PyPI's 'varlink', Debian's Go library, systemd's varlinkctl.

The last two are tried where they are installed.
"""

import glob
import os
import shutil
import subprocess

from harness import ROOT, Skip, expect, main, test

FILES = sorted(glob.glob(os.path.join(ROOT, "Sources", "HandoffControl", "Interfaces", "*.varlink")))

# Reads interface descriptions with Debian's golang-github-varlink-go-dev.
GO_PROGRAM = """
package main

import (
    "fmt"
    "io/ioutil"
    "os"

    "github.com/varlink/go/varlink/idl"
)

func main() {
    for _, path := range os.Args[1:] {
        text, err := ioutil.ReadFile(path)
        if err == nil {
            _, err = idl.New(string(text))
        }
        if err != nil {
            fmt.Fprintf(os.Stderr, "%s: %v\\n", path, err)
            os.Exit(1)
        }
    }
}
"""


@test("the Python scanner reads them, and finds what they define")
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


@test("the Go library reads them")
def go_library(stage):
    if not shutil.which("go") or not os.path.isdir("/usr/share/gocode/src/github.com/varlink/go"):
        raise Skip("golang-go and golang-github-varlink-go-dev are not installed", optional=True)
    program = stage.file("check.go", GO_PROGRAM)
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "",
                   "GOCACHE": os.path.join(stage.folder, "cache"), "HOME": stage.folder}
    done = subprocess.run(["go", "run", program, *FILES], env=environment, capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)


@test("varlinkctl reads them")
def varlinkctl(stage):
    if not shutil.which("varlinkctl"):
        raise Skip("varlinkctl is not installed (systemd 255 brings it)", optional=True)
    for path in FILES:
        done = subprocess.run(["varlinkctl", "validate-idl", path], capture_output=True, text=True)
        expect(done.returncode == 0, f"{path}: {done.stderr}")


@test("they keep to what all parsers take")
def house_rules(stage):
    for path in FILES:
        with open(path, "rb") as file:
            text = file.read()
        expect(b"\r" not in text and b"\t" not in text, f"{path}: carriage returns or tabs")
        expect(b"[string]()" not in text, f"{path}: a set of strings is not read by systemd's parser")
        for number, line in enumerate(text.decode().splitlines(), 1):
            if line.startswith("error "):
                expect("(" in line, f"{path}:{number}: an error needs parentheses")


if __name__ == "__main__":
    main()
