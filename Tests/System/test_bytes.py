"""Arguments, variables and paths as bytes: names that are not UTF-8, a moved environment, a machine without /proc."""

import os
import shutil
import subprocess

from harness import BIN, Skip, expect, main, run, test

LATIN = b"caf\xe9"


def bytes_run(words, environment, within=20, input=None):
    """Runs a program whose arguments and variables are bytes."""
    done = subprocess.run(words, env=environment, capture_output=True, timeout=within, input=input)
    return done.returncode, done.stdout, done.stderr


@test("files with Latin-1 names are sent, received, exported and read")
def files(stage):
    origin, taker = stage.pair()
    folder = os.fsencode(stage.folder)
    path = os.path.join(folder, LATIN + b".txt")
    with open(path, "wb") as file:
        file.write(b"content")
    program = os.fsencode(os.path.join(BIN, "handoffctl"))
    environment = {os.fsencode(key): os.fsencode(value) for key, value in origin.environment.items()}
    sending = subprocess.Popen([program, b"send", b"taker", path], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    stage.processes.append(sending)
    offer = taker.follow("watch").wait("added")
    expect(offer["title"] == "caf\ufffd.txt", f"wrong title: {offer}")
    there = {os.fsencode(key): os.fsencode(value) for key, value in taker.environment.items()}
    target = os.path.join(folder, b"got-" + LATIN + b".txt")
    code, output, errors = bytes_run([program, b"continue", b"--output", target, offer["id"].encode()], there)
    expect(code == 0, f"{code}: {output} {errors}")
    with open(target, "rb") as file:
        expect(file.read() == b"content", "wrong content")
    expect(sending.wait(20) == 0, f"send exited with {sending.returncode}")
    account = os.path.join(folder, b"account-" + LATIN)
    code, _, errors = bytes_run([program, b"account", b"export", account], environment)
    expect(code == 0 and os.path.exists(account), f"{code}: {errors}")
    code, _, errors = bytes_run([program, b"account", b"import", account], there)
    expect(code == 0, f"{code}: {errors}")


@test("a Latin-1 home, state folder, socket and download folder work")
def home(stage):
    first, second = stage.pair()
    folder = os.fsencode(stage.folder)
    home = os.path.join(folder, b"home-" + LATIN)
    os.makedirs(os.path.join(home, b".config"))
    os.makedirs(os.path.join(home, LATIN + b"s"))
    os.mkdir(os.path.join(home, b"run"), 0o700)
    with open(os.path.join(home, b".config", b"user-dirs.dirs"), "wb") as file:
        file.write(b'XDG_DOWNLOAD_DIR="$HOME/' + LATIN + b's"\n')
    environment = {b"PATH": b"/usr/bin:/bin", b"HOME": home, b"LANG": b"C.UTF-8",
                   b"XDG_RUNTIME_DIR": os.path.join(home, b"run")}
    program = [os.fsencode(os.path.join(BIN, name)) for name in ("handoffd", "handoffctl")]
    daemon = subprocess.Popen(
        [program[0], b"--port", b"0", b"--interface", b"lo", b"--discovery", b"embedded", b"--name", b"latin", b"--no-desktop"],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    stage.processes.append(daemon)
    while b"Ready" not in (line := daemon.stderr.readline()):
        expect(line, "it exited during its start")
    expect(os.path.exists(os.path.join(home, b".local/state/handoff/state/identity")), "wrong state folder")
    expect(os.path.exists(os.path.join(home, b"run/handoff/control.socket")), "wrong socket")
    file = os.path.join(stage.folder, "account")
    first.ctl("account", "export", file)
    code, _, errors = bytes_run([program[1], b"account", b"import", os.fsencode(file)], environment)
    expect(code == 0 or b"not joined yet" in errors, f"{code}: {errors}")
    sent = stage.file("sent.txt", "content")
    sending = first.follow("send", "latin", sent)
    offer = sending.wait("published")
    handling = subprocess.Popen(
        [program[1], b"handle", b"--downloads", b"--app", b"org.example.Downloads", b"dev.handoff1.content"],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    stage.processes.append(handling)
    # Until the offer is known and the handler attached.
    code = 4
    while code == 4 or b"nothing" in errors:
        code, _, errors = bytes_run([program[1], b"continue", offer["id"].encode()], environment)
    expect(code == 0, f"{code}: {errors}")
    sending.rest()
    expect(os.listdir(os.path.join(home, LATIN + b"s")) == [b"sent.txt"], f"{os.listdir(home)}")
    expect(sorted(os.listdir(home)) == sorted([b".cache", b".config", b".local", b"run", LATIN + b"s"]), f"{os.listdir(home)}")


@test("a preloaded library that moves the environment removes no argument")
def moved(stage):
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        raise Skip("no C compiler found", optional=True)
    source = stage.file("preload.c", '#include <stdlib.h>\n__attribute__((constructor)) static void move(void) {\n'
                                     '    setenv("MOVED_BY_PRELOAD", "yes", 1);\n}\n')
    library = os.path.join(stage.folder, "preload.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    for program in ("handoffd", "handoffctl"):
        result = run([os.path.join(BIN, program), "--version"], {"LD_PRELOAD": library, "HOME": stage.folder})
        expect(result.code == 0 and result.output.startswith(program), str(result))


@test("without /proc the programs have their arguments")
def without_proc(stage):
    if os.geteuid() != 0:
        raise Skip("only root can hide /proc")
    for program in ("handoffd", "handoffctl"):
        script = f"mount -t tmpfs none /proc && exec '{os.path.join(BIN, program)}' --version"
        result = run(["unshare", "-m", "sh", "-c", script], {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": stage.folder})
        expect(result.code == 0 and result.output.startswith(program), str(result))


if __name__ == "__main__":
    main()
