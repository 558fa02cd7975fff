"""The scripts that build, install and package the programs, on a system that lacks a part or is busy."""

import os
import re
import shutil
import stat

from harness import BIN, ROOT, expect, main, run, test
from installation import call, needs


def played(stage, **programs):
    """A folder with simulated programs: scripts by name. Nothing else of the toolchain is in PATH."""
    folder = os.path.join(stage.folder, "bin")
    os.mkdir(folder)
    for name in ("bash", "sh", "env", "dirname", "mkdir", "sed", "grep", "cat", "rm", "mktemp", "id", "sleep", "make"):
        os.symlink(shutil.which(name), os.path.join(folder, name))
    for name, script in programs.items():
        path = os.path.join(folder, name.replace("_", "-"))
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(path, 0o755)
    return {**os.environ, "PATH": folder, "PLAYED": stage.folder, "HANDOFF_SETUP_PAUSE": "0"}


def folders(top):
    return sorted(os.path.relpath(os.path.join(place, name), top) for place, names, _ in os.walk(top) for name in names)


# ---- Building ----------------------------------------------------------------------------------------------------------------

@test("make without a Swift toolchain names the missing part, and its source")
def no_swift(stage):
    needs("make")
    for environment in (played(stage),):
        for words in (["make", "-C", ROOT], [os.path.join(ROOT, "scripts/build")]):
            done = run(words, environment)
            expect(done.code != 0 and "build: the Swift toolchain is missing (swift is not in PATH): see https://" in done.errors, str(done))
            expect("not found" not in done.errors, str(done))


# ---- scripts/setup -----------------------------------------------------------------------------------------------------------

APT = 'echo "$*" >>"$PLAYED/calls"; case $* in *update*) n=$(grep -c update "$PLAYED/calls"); %s;; esac'


def setup(stage, update):
    environment = played(stage, swift="", dpkg_query="exit 1", sudo='exec "$@"', apt_get=APT % update)
    done = run([os.path.join(ROOT, "scripts/setup")], environment)
    with open(os.path.join(stage.folder, "calls")) as file:
        return done, file.read().splitlines()


@test("setup waits while another program uses dpkg or the package lists")
def busy(stage):
    done, calls = setup(stage, '[ $n -gt 3 ] || { echo "E: Could not get lock /var/lib/apt/lists/lock" >&2; exit 100; }')
    expect(done.code == 0 and "waiting up to 10 minutes for another program" in done.errors, str(done))
    expect(["update" in one for one in calls] == [True] * 4 + [False], f"{calls}")
    expect(re.match(r"-o DPkg::Lock::Timeout=[1-9]\d\d install ", calls[-1]), f"{calls}")


@test("setup does not retry failures of other kinds")
def broken(stage):
    done, calls = setup(stage, 'echo "E: The repository has no Release file" >&2; exit 100')
    expect(done.code == 100 and "no Release file" in done.errors and len(calls) == 1, f"{done} {calls}")


# ---- make install and uninstall ----------------------------------------------------------------------------------------------

@test("make uninstall leaves no folder of an image behind")
def no_folders(stage):
    needs("make")
    for prefix in ("/usr", "/usr/local"):
        image = os.path.join(stage.folder, "image" + prefix.replace("/", "-"))
        call("make", "install", environment={"PREFIX": prefix, "DESTDIR": image})
        expect(len(folders(image)) > 30, f"{folders(image)}")
        call("make", "uninstall", environment={"PREFIX": prefix, "DESTDIR": image})
        expect(folders(image) == [], f"left behind: {folders(image)}")


@test("without an image, folders of the system and those with other files remain")
def system_folders(stage):
    needs("make")
    places = {"PREFIX": "local", "SYSCONFDIR": "etc", "BROWSERDIR": "usr"}
    environment = {name: os.path.join(stage.folder, place) for name, place in places.items()}
    call("make", "install", environment=environment)
    for path in ("local/share/man/man1/other.1", "etc/handoff/policy.d/mine.conf"):
        open(os.path.join(stage.folder, path), "w").close()
    call("make", "uninstall", environment=environment)
    left = {"etc", "etc/handoff", "etc/handoff/policy.d", "local", "local/bin", "local/lib", "local/share", "local/share/man",
            "local/share/man/man1", "usr", "usr/lib", "usr/share"}
    expect(set(folders(stage.folder)) == left, f"left behind: {set(folders(stage.folder)) ^ left}")


# ---- debian/tests ------------------------------------------------------------------------------------------------------------

@test("the tests of the Debian package exist and succeed", limit=120)
def autopkgtest(stage):
    with open(os.path.join(ROOT, "debian/tests/control")) as file:
        paragraphs = [dict(line.split(": ", 1) for line in text.splitlines()) for text in file.read().strip().split("\n\n")]
    names = [name for one in paragraphs for name in one.get("Tests", "").split()]
    expect(sorted(names + ["control"]) == sorted(os.listdir(os.path.join(ROOT, "debian/tests"))), f"{names}")
    for name in names:
        path = os.path.join(ROOT, "debian/tests", name)
        expect(os.stat(path).st_mode & stat.S_IXUSR, f"{name} is not executable")
        done = run([path], {**os.environ, "HANDOFF_BIN": BIN, "TMPDIR": stage.folder}, 100)
        expect(done.code == 0, str(done))
    for one in paragraphs:
        if words := one.get("Test-Command", "").split():
            call(os.path.join(ROOT, "Settings", words[0]), *words[1:])
    with open(os.path.join(ROOT, "debian/control")) as file:
        packages = re.findall(r"(?m)^Package: (.*)$", file.read())
    expect({name for one in paragraphs for name in one["Depends"].split(", ")} <= set(packages), f"{paragraphs}")


if __name__ == "__main__":
    main()
