"""What else moves a file from here to here."""

import os
import shutil
import socket
import subprocess
import sys
import time

from common import harness


class Others:
    """What else moves a file from here to here: socat by TLS with the same cipher, and scp. They are None where they are not.

    With `hosts`, two simulated ones, scp copies from the first, at `address`, to the second.
    """

    def __init__(self, stage, source, folder, hosts=None, address="127.0.0.1"):
        self.address, self.prefixes = address, [host.prefix for host in hosts or ()] or [[], []]
        self.stage, self.source, self.target = stage, source, os.path.join(folder, "copy")
        self.folder = os.path.join(stage.folder, "others")
        os.mkdir(self.folder, 0o700)
        self.socat = self._socat if shutil.which("socat") and shutil.which("openssl") and not hosts else None
        self.scp = self._scp if shutil.which("sshd") and shutil.which("scp") and self._start_sshd() else None

    def _path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _free_port():
        with socket.create_server(("127.0.0.1", 0)) as free:
            return free.getsockname()[1]

    def _socat(self):
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
        port, environment = self._free_port(), {**os.environ, "OPENSSL_CONF": settings}
        options = f"cert={pem},cafile={self._path('cert.pem')},commonname=floor"
        begin = time.monotonic()
        both = [subprocess.Popen(["socat", "-u", "-b", "262144", *words], env=environment) for words in (
            [f"OPENSSL-LISTEN:{port},bind=127.0.0.1,reuseaddr,{options}", "OPEN:/dev/null"],
            [f"OPEN:{self.source},rdonly", f"OPENSSL:127.0.0.1:{port},retry=100,interval=0.01,{options}"])]
        self.stage.processes += both
        harness.expect([process.wait(120) for process in both] == [0, 0], "socat failed")
        return time.monotonic() - begin

    def _start_sshd(self):
        self.port = self._free_port()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._path(name)], check=True)
        with open(self._path("config"), "w") as file:
            file.write(f"Port {self.port}\nListenAddress {self.address}\nHostKey {self._path('host')}\nUsePAM no\nStrictModes no\n"
                       f"AuthorizedKeysFile {self._path('user.pub')}\nPidFile none\nPermitRootLogin yes\n"
                       "Subsystem sftp internal-sftp\n")
        words = [shutil.which("sshd"), "-D", "-e", "-f", self._path("config")]
        if os.geteuid() == 0:  # sshd insists on a folder in /run; it gets a /run of its own.
            words = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec "$@"', "sh", *words]
        with open(self._path("log"), "w") as log:
            words = [*self.prefixes[0], *words]
            self.stage.processes.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        open(self._path("empty"), "w").close()
        limit = time.monotonic() + 5
        while self._copy(self._path("empty")) is None:
            if time.monotonic() > limit:
                print(f"Benchmarks/run: no scp: {harness.tail(self._path('log'))}", file=sys.stderr)
                return False
            time.sleep(0.1)
        return True

    def _copy(self, source):
        """Seconds of a copy; None when it failed."""
        begin = time.monotonic()
        done = subprocess.run(
            [*self.prefixes[1], "scp", "-q", "-c", "aes128-gcm@openssh.com", "-P", str(self.port), "-i", self._path("user"), "-o",
             "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
             f"{self.address}:{source}", self.target], capture_output=True)
        return time.monotonic() - begin if done.returncode == 0 else None

    def copy_time(self, source):
        """Seconds of a copy by scp, from its start to its end, so with logging in."""
        return self._copy(source)

    def _scp(self):
        """Without what it takes to log in."""
        login, whole = self._copy(self._path("empty")), self._copy(self.source)
        harness.expect(login and whole, "scp failed")
        return whole - login
