"""Policies of an administrator, for one daemon."""

import os
import shutil

from harness import Skip


def with_etc(stage, daemon):
    """Makes the daemon run with a copy of /etc of its own. Returns the folder of policies in it."""
    if os.geteuid() != 0:
        raise Skip("replacing /etc needs root")
    etc = os.path.join(daemon.folder, "etc")
    shutil.copytree("/etc", etc, symlinks=True, ignore=shutil.ignore_patterns("handoff"), ignore_dangling_symlinks=True)
    policies = os.path.join(etc, "handoff", "policy.d")
    os.makedirs(policies)
    words = daemon.words

    def in_namespace(*more):
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                'mount --bind "$0" /etc && exec "$@"', etc, *words(*more)]

    daemon.words = in_namespace
    return policies


def policy(folder, text, name="10-test.conf"):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
