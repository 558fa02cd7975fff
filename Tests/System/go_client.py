"""Builds varlink_client.go with GCC's compiler for Go, which is half as large as the other one and
needs no module cache."""

import glob
import os
import shutil
import subprocess

from harness import Failure, Skip

SOURCES = "/usr/share/gocode/src"
LIBRARY = "github.com/varlink/go/varlink"
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "varlink_client.go")
# Each after the packages that it imports.
PACKAGES = (f"{LIBRARY}/internal/ctxio", f"{LIBRARY}/idl", LIBRARY)
# For other systems, and for Go before 1.11.
OTHERS = ("_test.go", "_windows.go", "listen_1.10.go")


def built(stage):
    """Returns the path of the client."""
    if not shutil.which("gccgo") or not os.path.isdir(os.path.join(SOURCES, LIBRARY)):
        raise Skip("gccgo or golang-github-varlink-go-dev is missing (scripts/setup --tests)")
    folder = os.path.join(stage.folder, "go")
    objects = []
    for package in PACKAGES:
        objects.append(os.path.join(folder, package + ".o"))
        os.makedirs(os.path.dirname(objects[-1]), exist_ok=True)
        sources = [path for path in sorted(glob.glob(os.path.join(SOURCES, package, "*.go"))) if not path.endswith(OTHERS)]
        compile("-I", folder, "-c", f"-fgo-pkgpath={package}", *sources, "-o", objects[-1])
    program = os.path.join(folder, "client")
    compile("-I", folder, PROGRAM, *reversed(objects), "-o", program)
    return program


def compile(*words):
    done = subprocess.run(["gccgo", *words], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"gccgo {words}: {done.stderr}")
