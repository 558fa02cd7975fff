"""handoff-try: two devices of one account by one command."""

import os
import subprocess

from harness import BIN, ROOT, expect, main, run, test

TRY = os.path.join(ROOT, "packaging", "handoff-try")
TYPE = "com.example.editing"


def surroundings(stage, **more):
    return {"PATH": "/usr/bin:/bin", "HOME": stage.folder, "HANDOFF_BIN": BIN, **more}


@test("a command has both devices, and leaves nothing behind, with the command's exit status")
def command(stage):
    script = f"""
set -e
ctl={BIN}/handoffctl
$ctl --socket $HANDOFF_DESK publish {TYPE} --title Letter --user-info '{{"page": 3}}' >/dev/null &
publisher=$!
trap 'kill $publisher' EXIT
until $ctl --socket $HANDOFF_LAPTOP continue --type {TYPE} --print 2>/dev/null; do sleep 0.1; done
echo desk $HANDOFF_DESK
exit 7
"""
    done = run([TRY, "--run", "bash", "-c", script], surroundings(stage))
    expect(done.code == 7 and "Letter" in done.output, f"not handed over: {done}")
    desk = done.output.split("desk ")[1].strip()
    expect(not os.path.exists(os.path.dirname(desk)), f"{desk} remains")


@test("it prints how to start a program at each device, and runs typed commands")
def typed(stage):
    done = run([TRY, "app", "--plain"], surroundings(stage), input=b"list\nlaptop\nnonsense\n")
    expect(done.code == 0, f"did not exit at the end of its input: {done}")
    for name in ("Desk", "Laptop"):
        expect(f"/{name}.socket app --plain\n" in done.output, f"not for {name}: {done}")
    expect("at Desk:" in done.output and "laptop, desk, list, or Ctrl-D" in done.output, f"wrong: {done}")


@test("it finds the daemons next to itself and in PATH, and names missing ones")
def places(stage):
    environment = surroundings(stage)
    del environment["HANDOFF_BIN"]
    missing = run([TRY], environment)
    expect(missing.code == 1 and "handoffd is not in PATH" in missing.errors, f"wrong: {missing}")
    found = run([TRY, "--run", "true"], environment | {"PATH": f"{BIN}:/usr/bin:/bin"})
    expect(found.code == 0, f"not found in PATH: {found}")
    beside = os.path.join(stage.folder, "bin")
    os.mkdir(beside)
    for name in ("handoffd", "handoffctl"):
        os.symlink(os.path.join(BIN, name), os.path.join(beside, name))
    subprocess.run(["cp", TRY, beside], check=True)
    found = run([os.path.join(beside, "handoff-try"), "--run", "true"], environment)
    expect(found.code == 0, f"not found next to it: {found}")


@test("it has help, and rejects unknown options")
def help_text(stage):
    shown = run([TRY, "--help"], surroundings(stage))
    expect(shown.code == 0 and "--run COMMAND" in shown.output, f"no help: {shown}")
    for words in (["--nonsense"], ["--run"]):
        refused = run([TRY, *words], surroundings(stage))
        expect(refused.code == 2 and "--help" in refused.errors, f"not refused: {refused}")


if __name__ == "__main__":
    main()
