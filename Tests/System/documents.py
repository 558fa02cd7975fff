"""The common parts of the tests of documents: files of a device, and the folders that it shares."""

import os


def configure(daemon, text):
    """Gives the apps of a device a documents.conf."""
    daemon.environment["XDG_CONFIG_HOME"] = os.path.join(daemon.folder, "config")
    daemon.environment["XDG_CACHE_HOME"] = os.path.join(daemon.folder, "cache")
    folder = os.path.join(daemon.folder, "config", "handoff")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "documents.conf"), "w") as file:
        file.write(text)


def write(daemon, name, content=b"what it says"):
    """Writes a file of a device. Returns its path."""
    path = os.path.join(os.path.realpath(daemon.folder), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path


def checkout(daemon, name, remote):
    """Creates the files in which `git clone` records its source."""
    write(daemon, f"{name}/.git/config", f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {remote}\n'.encode())
