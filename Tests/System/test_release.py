"""The output of scripts/release for existing programs: the source archive, and packages for Debian,
Fedora and Arch Linux."""

import atexit
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile

from harness import BIN, ROOT, Skip, expect, main, release, run, test
from installation import BROWSERS, INSTALLED, SETTINGS, call, needs, static

PROGRAMS = ("handoffd", "handoff-desktop", "handoff-browser", "handoffctl")
ZSH = "usr/share/zsh/site-functions"
CONFIGURATION = {"etc/handoff/documents.conf", "etc/handoff/handoffd.conf", "etc/ufw/applications.d/handoff"}
made = {}


def folder():
    """The release, which is built twice for all tests, and compared by the script."""
    needs("git", "dh", "rpmbuild")
    if subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True).returncode:
        raise Skip("this is not a git checkout", optional=True)
    if not all(static(os.path.join(BIN, name)) for name in PROGRAMS):
        raise Skip("these programs were not built by scripts/build", optional=True)
    if not made:
        made["place"] = tempfile.mkdtemp(prefix="handoff-release-")
        atexit.register(shutil.rmtree, made["place"], ignore_errors=True)
        # Minimal compression, which otherwise takes most of the time.
        with open(os.path.join(made["place"], ".rpmmacros"), "w") as file:
            file.write("%_binary_payload w0.gzdio\n")
        made["output"] = os.path.join(made["place"], "release")
        made["said"] = call("scripts/release", "--check", "--uncommitted", "--output", made["output"],
                            environment={"HOME": made["place"], "DPKG_DEB_COMPRESSOR_LEVEL": "0"}).stdout
    return made["output"]


def listed(parts):
    """Returns the files that 'make install' puts below /usr and /etc, as a packager for a system
    other than Debian has them."""
    environment = {"PREFIX": "/usr", "ZSHDIR": "/" + ZSH, "PARTS": parts}
    return {path[1:] for path in call("scripts/install", "--list", environment=environment).stdout.split()}


def plain(paths):
    """Returns the files without folders, with manual pages under their own names, and without files
    that a system adds itself."""
    return {path.removesuffix(".gz") for path in paths if not path.startswith(("usr/share/licenses/", f"usr/share/doc/handoff-{release()}/"))}


@test("two builds in different folders are identical, and contain the checksums of all files", limit=280)
def same_again(stage):
    output = folder()
    expect("two builds in different folders are identical" in made["said"], made["said"])
    names, version = set(os.listdir(output)), release()
    architecture = call("dpkg", "--print-architecture").stdout.strip()
    expect({"PKGBUILD", "SHA256SUMS", f"handoff-{version}.tar.gz", f"handoff_{version}_{architecture}.deb",
            f"webext-handoff_{version}_all.deb", f"webext-handoff-{version}-1.noarch.rpm"} <= names, f"{names}")
    with open(os.path.join(output, "SHA256SUMS")) as file:
        sums = dict(reversed(line.split()) for line in file)
    expect(set(sums) == names - {"SHA256SUMS"}, f"sums of {sorted(sums)}")
    for name, said in sums.items():
        with open(os.path.join(output, name), "rb") as file:
            expect(hashlib.sha256(file.read()).hexdigest() == said, f"{name} has another checksum")
    with open(os.path.join(output, "PKGBUILD")) as file:
        expect(f"sha256sums=({sums[f'handoff-{version}.tar.gz']})" in file.read(), "the PKGBUILD has another checksum")


@test("the source archive contains exactly the files of the commit", limit=280)
def archive(stage):
    name = f"handoff-{release()}"
    with tarfile.open(os.path.join(folder(), name + ".tar.gz")) as file:
        found = {member.name for member in file if not member.isdir()}
    wanted = call("git", "ls-tree", "-r", "-z", "--name-only", "HEAD").stdout.strip("\0").split("\0")
    expect(found == {f"{name}/{path}" for path in wanted}, f"{found ^ {f'{name}/{path}' for path in wanted}}")


@test("no program of the packages contains the path of its build", limit=280)
def no_folders(stage):
    image = os.path.join(stage.folder, "image")
    package = next(name for name in os.listdir(folder()) if name.startswith("handoff_"))
    call("dpkg-deb", "--extract", os.path.join(folder(), package), image)
    for path in ("usr/bin/handoffd", "usr/bin/handoff-desktop", "usr/lib/handoff/handoff-browser", "usr/bin/handoffctl"):
        with open(os.path.join(image, path), "rb") as file:
            data = file.read()
        # It contains the name of the last target, which proves that this reads the right bytes.
        expect(b"HandoffModel" in data, f"{path} is not one of this project's programs")
        expect(ROOT.encode() + b"/" not in data, f"{path} names {ROOT}")
        sections = call("readelf", "--sections", "--wide", os.path.join(image, path)).stdout
        expect(".debug_info" not in sections and ".swift_modhash" not in sections, f"{path} has unneeded sections: {sections}")


@test("the RPM packages contain every file of make install, settings that are kept, and the libraries loaded at run time", limit=280)
def rpm(stage):
    output = folder()

    def ask(name, *words):
        return call("rpm", "--query", "--package", "--nosignature", *words, os.path.join(output, name)).stdout.splitlines()

    programs = next(name for name in os.listdir(output) if name.startswith(f"handoff-{release()}-") and name.endswith(".rpm"))
    extension = f"webext-handoff-{release()}-1.noarch.rpm"
    window = f"handoff-settings-{release()}-1.noarch.rpm"
    for name, parts, known in ((programs, "programs", INSTALLED), (extension, "browsers", BROWSERS), (window, "settings", SETTINGS)):
        lines = [line.split(" ", 1) for line in ask(name, "--queryformat", "[%{FILEMODES:perms} %{FILENAMES}\n]")]
        found = plain(path[1:] for mode, path in lines if not mode.startswith("d"))
        expect(found == plain(listed(parts)), f"{name}: {found ^ plain(listed(parts))}")
        known = {path.replace("usr/share/zsh/vendor-completions", ZSH) for path in known}
        expect(known <= found, f"{name}: missing {known - found}")
        owners = ask(name, "--queryformat", "[%{FILEUSERNAME}:%{FILEGROUPNAME}\n]")
        expect(set(owners) == {"root:root"}, f"{name}: {set(owners)}")
    expect({path[1:] for path in ask(programs, "--configfiles")} == CONFIGURATION, "wrong settings")
    needed = ask(programs, "--requires")
    for library in ("libavahi-client.so.3()(64bit)", "libavahi-core.so.7()(64bit)", "libssl.so.3()(64bit)", "libsystemd.so.0()(64bit)"):
        expect(library in needed, f"no {library} in {needed}")
    for name in (extension, window):
        expect(f"handoff >= {release()}" in ask(name, "--requires"), f"{name} does not depend on the programs")
    scripts = "\n".join(ask(programs, "--scripts"))
    expect("install-user-units handoffd.socket" in scripts and "%" not in scripts, scripts)


@test("makepkg builds packages from the PKGBUILD and the archive, with every file of make install", limit=280)
def arch(stage):
    needs("makepkg", "fakeroot", "bsdtar")
    for name in ("PKGBUILD", f"handoff-{release()}.tar.gz"):
        shutil.copy(os.path.join(folder(), name), stage.folder)
    # makepkg does not run as root, even with another effective user. Its fakeroot is a simulated one.
    other = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []
    if run([*other, "true"], dict(os.environ)).code:
        raise Skip("this kernel or container does not allow user namespaces", optional=True)
    # Nothing is installed, so pacman has nothing to report.
    environment = {**os.environ, "HANDOFF_BIN": BIN, "PACMAN": "true", "PKGEXT": ".pkg.tar", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([*other, "makepkg", "--nodeps"], cwd=stage.folder, env=environment, capture_output=True, text=True, timeout=250)
    expect(done.returncode == 0, f"{done.stdout}{done.stderr}")
    architecture = call("uname", "-m").stdout.strip()
    for name, parts in ((f"handoff-{release()}-1-{architecture}", "programs"), (f"webext-handoff-{release()}-1-any", "browsers"),
                        (f"handoff-settings-{release()}-1-any", "settings")):
        with tarfile.open(os.path.join(stage.folder, name + ".pkg.tar")) as file:
            members = {member.name: member for member in file}
            about = file.extractfile(".PKGINFO").read().decode()
        found = plain(path for path, member in members.items() if not member.isdir() and not path.startswith("."))
        expect(found == plain(listed(parts)), f"{name}: {found ^ plain(listed(parts))}")
        expect({(member.uname or "root", member.mode & 0o022) for member in members.values() if not member.issym()} == {("root", 0)},
               f"{name}: wrong owners or modes")
        kept = {line.split(" = ")[1] for line in about.splitlines() if line.startswith("backup = ")}
        expect(kept == (CONFIGURATION if parts == "programs" else set()), f"{name}: {kept}")
        expect(f"pkgver = {release()}-1\n" in about, about)


if __name__ == "__main__":
    main()
