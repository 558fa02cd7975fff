"""Syncthing on this machine: two nodes that share a folder, with a configuration of their own."""

import http.client
import json
import os
import socket
import subprocess
import time
import xml.etree.ElementTree as xml

from common import harness, until

KEY = "benchmark"
OFF = ("globalAnnounceEnabled", "localAnnounceEnabled", "relaysEnabled", "natEnabled", "startBrowser", "crashReportingEnabled")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Node:
    """One Syncthing with its folder."""

    def __init__(self, stage, folder, name):
        self.stage, self.name, self.home = stage, name, os.path.join(folder, name)
        self.share = os.path.join(self.home, "share")
        os.makedirs(os.path.join(self.share, ".stfolder"))
        self.port, self.gui, self.log = free_port(), free_port(), os.path.join(stage.folder, f"{name}.log")
        self.environment = {**os.environ, "STNOUPGRADE": "1", "HOME": self.home}
        subprocess.run(["syncthing", "generate", "--no-default-folder", f"--home={self.home}"], env=self.environment, check=True,
                       capture_output=True)
        self.id = subprocess.run(["syncthing", f"--home={self.home}", "--device-id"], env=self.environment, check=True,
                                 capture_output=True, text=True).stdout.split()[-1]

    def configure(self, nodes):
        """Configures all nodes and nothing else: no discovery, relays or reports."""
        path = os.path.join(self.home, "config.xml")
        tree = xml.parse(path)
        root = tree.getroot()
        for element in root.findall("device") + root.findall("folder"):
            root.remove(element)
        for node in nodes:
            device = xml.SubElement(root, "device", id=node.id, name=node.name)
            xml.SubElement(device, "address").text = "dynamic" if node is self else f"tcp://127.0.0.1:{node.port}"
        folder = xml.SubElement(root, "folder", id="f", label="f", path=self.share, type="sendreceive", rescanIntervalS="0",
                                fsWatcherEnabled="false")
        for node in nodes:
            xml.SubElement(folder, "device", id=node.id)
        options = root.find("options")
        for name, value in {**dict.fromkeys(OFF, "false"), "urAccepted": "-1", "autoUpgradeIntervalH": "0",
                            "listenAddress": f"tcp://127.0.0.1:{self.port}", "reconnectionIntervalS": "5"}.items():
            element = options.find(name)
            (xml.SubElement(options, name) if element is None else element).text = value
        gui = root.find("gui")
        gui.find("address").text, gui.find("apikey").text = f"127.0.0.1:{self.gui}", KEY
        tree.write(path)

    def start(self):
        with open(self.log, "w") as log:
            self.stage.processes.append(subprocess.Popen(
                ["syncthing", "serve", "--no-browser", "--no-restart", f"--home={self.home}"], env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        until(f"the start of Syncthing ({self.log})", lambda: self.ask("/rest/system/ping") is not None)

    def ask(self, path, method="GET"):
        """Returns the node's reply, or None without one."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.gui, timeout=300)
            connection.request(method, path, headers={"X-API-Key": KEY})
            response = connection.getresponse()
            body = response.read()
            return (json.loads(body) if body.strip() else {}) if response.status == 200 else None
        except OSError:
            return None

    def is_connected(self, other):
        connections = (self.ask("/rest/system/connections") or {}).get("connections", {})
        return connections.get(other.id, {}).get("connected", False)

    def scan(self, name):
        harness.expect(self.ask(f"/rest/db/scan?folder=f&sub={name}", "POST") is not None, f"no scan: {harness.tail(self.log)}")


class Syncthing:
    """Two nodes that are connected."""

    def __init__(self, stage, folder):
        folder = os.path.join(folder, "syncthing")
        self.origin, self.taker = nodes = [Node(stage, folder, name) for name in ("origin", "taker")]
        self.count = 0
        for node in nodes:
            node.configure(nodes)
        # The one that is called first, because a failed call is retried only after a long time.
        self.taker.start()
        self.origin.start()
        until("the connection of Syncthing", lambda: self.origin.is_connected(self.taker) and self.taker.is_connected(self.origin), 90)
        self.copy_time(4096)  # The first file coincides with the first comparison of the folders.

    def copy_time(self, size):
        """Returns the seconds from the request to one node to scan a new file until the other has
        it. Its bytes are new, because known ones are copied from other files."""
        self.count += 1
        name = f"file-{self.count}"
        source, target = (os.path.join(node.share, name) for node in (self.origin, self.taker))
        with open(source, "wb") as file:
            for start in range(0, size, 1 << 20):
                file.write(os.urandom(min(size - start, 1 << 20)))
        time.sleep(1)  # The effects of an earlier scan are over.
        begin = time.monotonic()
        self.origin.scan(name)
        until(f"the arrival of {name}", lambda: os.path.exists(target), 300)
        seconds = time.monotonic() - begin
        harness.expect(os.path.getsize(target) == size, "not all of the file arrived")
        os.unlink(source)
        self.origin.scan(name)
        until(f"the end of {name}", lambda: not os.path.exists(target))
        return seconds
