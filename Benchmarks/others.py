"""Other programs that transfer a file on this machine."""

import os
import shutil
import socket
import subprocess
import sys
import time

from common import harness

CIPHER = "aes128-gcm@openssh.com"


def absent(name, *programs):
    """Returns whether one of the programs that `name` needs is not installed, and prints this."""
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        print(f"no {name}: {', '.join(missing)} is not installed", file=sys.stderr)
    return bool(missing)


class Others:
    """Other programs that transfer a file on this machine: socat by TLS with the same cipher, scp,
    and rsync over ssh. They are None if not installed.

    With `hosts`, two simulated ones, scp copies from the first, at `address`, to the second.
    """

    def __init__(self, stage, source, folder, hosts=None, address="127.0.0.1"):
        self.address, self.prefixes = address, [host.prefix for host in hosts or ()] or [[], []]
        self.stage, self.source, self.target = stage, source, os.path.join(folder, "copy")
        self.folder = os.path.join(stage.folder, "others")
        os.mkdir(self.folder, 0o700)
        self.socat = self._socat if not hosts and not absent("socat", "socat", "openssl") else None
        self.scp = self._scp if not absent("scp", "sshd", "scp") and self._start_sshd() else None
        self.rsync = self.rsync_time if self.scp and not absent("rsync", "rsync") else None

    def _path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _free_port():
        with socket.create_server(("127.0.0.1", 0)) as free:
            return free.getsockname()[1]

    def _socat_setup(self):
        pem, settings = self._path("both.pem"), self._path("openssl.cnf")
        if not os.path.exists(pem):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=floor", "-keyout",
                            self._path("key.pem"), "-out", self._path("cert.pem")], check=True, capture_output=True)
            with open(pem, "w") as both:
                for name in ("key.pem", "cert.pem"):
                    with open(self._path(name)) as file:
                        both.write(file.read())
            with open(settings, "w") as file:
                file.write("openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n[c]\n"
                           "Ciphersuites = TLS_AES_128_GCM_SHA256\n")
        return {**os.environ, "OPENSSL_CONF": settings}, f"cert={pem},cafile={self._path('cert.pem')},commonname=floor"

    def _socat(self):
        """From the file to /dev/null."""
        return self.socat_time(self.source, "OPEN:/dev/null")

    def socat_time(self, source, target=None):
        """Returns the seconds from the start of the sender until the receiver, which waited for it, has exited."""
        environment, options = self._socat_setup()
        port, words = self._free_port(), ["socat", "-u", "-b", "262144"]
        receiver = subprocess.Popen(
            [*words, "-d", "-d", f"OPENSSL-LISTEN:{port},bind=127.0.0.1,reuseaddr,{options}", target or f"CREATE:{self.target}"],
            env=environment, stderr=subprocess.PIPE, text=True)
        self.stage.processes.append(receiver)
        while "listening on" not in (line := receiver.stderr.readline()):
            harness.expect(line, "socat does not listen")
        begin = time.monotonic()
        sender = subprocess.Popen([*words, f"OPEN:{source},rdonly", f"OPENSSL:127.0.0.1:{port},{options}"], env=environment)
        self.stage.processes.append(sender)
        receiver.stderr.read()  # To its end, at which the receiver has exited.
        seconds = time.monotonic() - begin
        harness.expect([sender.wait(20), receiver.wait(20)] == [0, 0], "socat failed")
        return seconds

    def _start_sshd(self):
        self.port = self._free_port()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._path(name)], check=True)
        with open(self._path("config"), "w") as file:
            # A home of its own, because the files that a shell reads there at its start would count for rsync.
            file.write(f"Port {self.port}\nListenAddress {self.address}\nHostKey {self._path('host')}\nUsePAM no\nStrictModes no\n"
                       f"AuthorizedKeysFile {self._path('user.pub')}\nPidFile none\nPermitRootLogin yes\n"
                       f"Subsystem sftp internal-sftp\nSetEnv HOME={self.folder}\n")
        words = [shutil.which("sshd"), "-D", "-e", "-f", self._path("config")]
        if os.geteuid() == 0:  # sshd requires a folder in /run, so it gets its own /run.
            words = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec "$@"', "sh", *words]
        with open(self._path("log"), "w") as log:
            words = [*self.prefixes[0], *words]
            self.stage.processes.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        open(self._path("empty"), "w").close()
        limit = time.monotonic() + 5
        while self._copy(self._path("empty")) is None:
            if time.monotonic() > limit:
                print(f"no scp: {harness.tail(self._path('log'))}", file=sys.stderr)
                return False
            time.sleep(0.1)
        return True

    @property
    def options(self):
        """The options of ssh and scp, except the port."""
        return ["-c", CIPHER, "-i", self._path("user"), *(word for option in (
            "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes", "BatchMode=yes", "LogLevel=ERROR",
        ) for word in ("-o", option))]

    def _copy(self, source, *options):
        """Returns the seconds of a copy, or None if it failed."""
        begin = time.monotonic()
        done = subprocess.run(
            [*self.prefixes[1], "scp", "-q", "-P", str(self.port), *self.options, *options, f"{self.address}:{source}",
             self.target], capture_output=True)
        return time.monotonic() - begin if done.returncode == 0 else None

    def copy_time(self, source):
        """Returns the seconds of a copy by scp, from its start to its exit, including the login."""
        return self._copy(source)

    def connect(self):
        """Logs in for all copies of `connected_time`, until the stage ends."""
        path = self._path("master")
        self.stage.processes.append(subprocess.Popen(
            ["ssh", "-p", str(self.port), *self.options, "-M", "-S", path, "-N", self.address], stdin=subprocess.DEVNULL))
        limit = time.monotonic() + 10
        while not os.path.exists(path):
            harness.expect(time.monotonic() < limit, "ssh does not connect")
            time.sleep(0.01)

    def connected_time(self, source):
        """Returns the seconds of a copy by scp over the connection of `connect`."""
        return self._copy(source, "-o", f"ControlPath={self._path('master')}")

    def rsync_time(self, source, *options):
        """Returns the seconds of a copy by rsync over ssh, from its start to its exit, of whole files."""
        begin = time.monotonic()
        done = subprocess.run(
            ["rsync", "-W", *options, "-e", " ".join(["ssh", "-p", str(self.port), *self.options]), f"{self.address}:{source}",
             self.target], capture_output=True, text=True)
        harness.expect(done.returncode == 0, f"rsync failed: {done.stderr}")
        return time.monotonic() - begin

    def _scp(self):
        """Without the time of the login."""
        login, whole = self._copy(self._path("empty")), self._copy(self.source)
        harness.expect(login and whole, "scp failed")
        return whole - login
