"""From an empty folder to the first handoff, following docs/handoffkit.md: the steps of the page,
and their duration.

Environment: HANDOFF_READER_BUILD, options of `swift build` that replace those of the page, to use
modules that another build in the same scratch folder has compiled.
"""

import os
import re
import subprocess
import time

from harness import BIN, ROOT, Failure, expect, main, test

PAGE = os.path.join(ROOT, "docs", "handoffkit.md")
# The dependency in the manifest of the page.
CHECKOUT = '.package(path: "../handoff")'
BUILD = ["swift", "build", *os.environ.get("HANDOFF_READER_BUILD", "").split()]


def pieces():
    """Returns the manifest and the program of the page."""
    with open(PAGE) as file:
        text = file.read()
    program = re.search(r"^```swift\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]
    manifest = re.search(r"^   ```\n(   // swift-tools-version.*?)^   ```$", text, re.MULTILINE | re.DOTALL)[1]
    manifest = re.sub(r"^   ", "", manifest, flags=re.MULTILINE)
    expect(CHECKOUT in manifest, "the manifest of the page has another dependency")
    if BUILD[2:]:
        # Modules are shared only if their sources have the same paths.
        manifest = manifest.replace(CHECKOUT, f'.package(name: "handoff", path: "{ROOT}")')
    return manifest, program


@test("the steps of the page lead to the first handoff", limit=900)
def first(stage):
    folder = os.path.join(stage.folder, "reader")
    os.makedirs(os.path.join(folder, "Sources", "Reader"))
    # The page states the place of the checkout, whose folder has the name of the package.
    os.symlink(ROOT, os.path.join(stage.folder, "handoff"))
    began = time.monotonic()
    for name, text in zip(("Package.swift", "Sources/Reader/main.swift"), pieces()):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    built = subprocess.run(BUILD, cwd=folder, capture_output=True, text=True)
    expect(built.returncode == 0, f"it does not build: {built.stdout[-3000:]}{built.stderr[-3000:]}")
    reader = os.path.join(subprocess.check_output([*BUILD, "--show-bin-path"], cwd=folder, text=True).strip(), "Reader")
    build = time.monotonic() - began
    devices = subprocess.Popen(
        [os.path.join(ROOT, "packaging", "handoff-try"), reader], cwd=folder, text=True,
        env={**os.environ, "HANDOFF_BIN": BIN}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stage.processes.append(devices)
    commands = {}
    while len(commands) < 2:
        line = devices.stdout.readline()
        expect(line, "handoff-try has exited")
        if said := re.match(r"  (Desk|Laptop): +HANDOFF_SOCKET=(\S+) (.*)", line):
            commands[said[1]] = said[2], said[3]
    shown = {}
    for name, (socket, program) in commands.items():
        shown[name] = os.path.join(stage.folder, f"{name}.out")
        with open(shown[name], "w") as output:
            # Lines are written immediately, as on a terminal.
            stage.processes.append(subprocess.Popen(
                ["stdbuf", "-oL", program], cwd=folder, env={**os.environ, "HANDOFF_SOCKET": socket}, stdout=output))
    limit = time.monotonic() + 30
    while "go on at page 3" not in open(shown["Laptop"]).read():
        expect(time.monotonic() < limit, "nothing was continued at Laptop")
        devices.stdin.write("laptop\n")
        devices.stdin.flush()
        time.sleep(0.2)  # Both programs attach at their own pace.
    print(f"  5 steps, {time.monotonic() - began:.0f} s, of which the build took {build:.0f} s")
    devices.stdin.close()
    if devices.wait(20) != 0:
        raise Failure("handoff-try did not exit at the end of its input")


if __name__ == "__main__":
    main()
