"""Real browsers for tests, using only the standard library: Chromium by the DevTools protocol over
a pipe, Firefox by Marionette.

Both have a profile that is created for the test, and find the native messaging host by a manifest
of the test.
"""

import json
import os
import select
import shlex
import shutil
import socket
import subprocess
import time

from harness import BIN, ROOT, Failure, Skip, expect, run, tail

EXTENSION = os.path.join(ROOT, "WebExtension")
HOST = "dev.handoff1.browser"
CHROMIUM_ID = "nimhleikiiaojiibokpciijkbglnjndk"
WEB = "NSUserActivityTypeBrowsingWeb"
PREFERENCES = {
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "media.autoplay.default": 0,
    "toolkit.cosmeticAnimations.enabled": False,
}
# Of a browser that a test drives: blank new tabs, and a single process for the pages of a site. Starting a process takes
# longer than loading most pages.
DRIVEN = {
    "browser.newtab.preload": False,
    "browser.newtabpage.enabled": False,
    "browser.startup.homepage": "about:blank",
    "browser.startup.page": 0,
    "dom.ipc.processCount": 1,
    "dom.ipc.processCount.webIsolated": 1,
    "dom.ipc.processPrelaunch.enabled": False,
}


def needs(program):
    path = shutil.which(program)
    if not path:
        raise Skip(f"{program} is missing (scripts/setup --tests)")
    return path


def host_manifest(folder, browser, program=None):
    """Writes the manifest by which a browser finds the host. Returns its path."""
    template = os.path.join(ROOT, "packaging", "browser", f"{browser}.json")
    with open(template) as file:
        manifest = json.load(file)
    manifest["path"] = program or os.path.join(BIN, "handoff-browser")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, HOST + ".json")
    with open(path, "w") as file:
        json.dump(manifest, file)
    return path


def until(what, condition, within=60):
    """Polls until the condition holds, because there is no event to wait for. Returns the condition's result."""
    limit, pause = time.monotonic() + within, 0.02
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > limit:
            expect(False, f"timed out after {within} s waiting for {what}; last: {value!r}")
        time.sleep(pause)
        pause = min(0.2, 1.5 * pause)


def attached(browser, daemon):
    """Waits until the browser is attached to the daemon."""
    return until(f"{browser.program} at its daemon", lambda: next(
        (app for app in daemon.ctl("apps").lines if app["id"] == browser.program and app["running"]), None), within=60)


def pages_of(daemon):
    """Returns the pages that other devices offer to this one."""
    return [one for one in daemon.ctl("list").lines if one["type"] == WEB]


def none_offered(daemon, what="the end of all offers of pages"):
    """Waits until other devices offer no pages to this one."""
    seen = []

    def is_none():
        seen[:] = pages_of(daemon)
        return not seen

    try:
        until(what, is_none)
    except Failure as failure:
        raise Failure(f"{failure}; offered: {seen}") from None


def installed(stage):
    """A command prefix that runs a command where the package is installed, which needs root. Empty otherwise."""
    if os.geteuid() != 0:
        return []
    image = os.path.join(stage.folder, "image")
    if not os.path.exists(image):
        done = run([os.path.join(ROOT, "scripts", "install")],
                   {**os.environ, "HANDOFF_BIN": BIN, "PREFIX": "/usr", "DESTDIR": image, "PARTS": "browsers"})
        expect(done.code == 0, str(done))
        # The tested program, at the path that the manifests contain.
        os.makedirs(os.path.join(image, "usr", "lib", "handoff"))
        os.symlink(os.path.join(BIN, "handoff-browser"), os.path.join(image, "usr", "lib", "handoff", "handoff-browser"))
    mount = "for each in usr etc; do mount -t overlay handoff -o \"lowerdir=$0/$each:/$each\" /$each || exit; done"
    return ["unshare", "--mount", "sh", "-c", mount + '; exec "$@"', image]


class Browser:
    """The common parts of both browsers: a home folder with a profile, and a process that ends with
    the test.

    If root runs the test, the extension is loaded because its package is installed. Otherwise it is
    loaded by hand.
    """

    program = None

    def __init__(self, stage, name, daemon, home=None, extension=None, display=None):
        """If `extension`, a folder, is given, it is loaded by hand, and no package is installed."""
        self.stage, self.name = stage, name
        self.path = needs(self.program)
        self.prefix = [] if extension else installed(stage)
        self.extension = extension or (None if self.prefix else EXTENSION)
        self.home = home or os.path.join(stage.folder, name)
        self.profile = os.path.join(self.home, "profile")
        os.makedirs(self.profile, mode=0o700, exist_ok=True)
        self.log = os.path.join(self.home, "browser.log")
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": self.home, "LANG": "C.UTF-8", "NO_AT_BRIDGE": "1",
            # A killed browser leaves its temporary files.
            "TMPDIR": self.home, "XDG_RUNTIME_DIR": daemon.environment["XDG_RUNTIME_DIR"], "HANDOFF_SOCKET": daemon.socket,
        }
        if display:
            self.environment["DISPLAY"] = display
        self.process = self.visiting = None

    def spawn(self, words, **more):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, **more)
        self.stage.processes.append(self.process)
        self.stage.closers.append(self.kill)

    def script(self, *words):
        """Writes a program that starts the browser, to be run by another program. Returns its path."""
        path = os.path.join(self.home, "start")
        variables = [f"{key}={value}" for key, value in self.environment.items()]
        with open(path, "w") as file:
            file.write(f"#!/bin/bash\necho $$ >{shlex.quote(self.home)}/pid\n"
                       f"exec {shlex.join(['env', '-i', *variables, *self.prefix, *words])} &>>{shlex.quote(self.log)}\n")
        os.chmod(path, 0o755)
        self.stage.closers.append(self.kill)
        return path

    def kill(self):
        """Kills the browser with all of its processes."""
        try:
            if self.process:
                os.killpg(self.process.pid, 9)
            elif os.path.exists(self.home + "/pid"):
                with open(self.home + "/pid") as file:
                    os.killpg(os.getpgid(int(file.read())), 9)
        except ProcessLookupError:
            pass
        if self.process:
            self.process.wait(60)

    def hosts(self):
        """Returns the process ids of the native messaging hosts that this browser has started."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    environment = file.read().split(b"\0")
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"handoff-browser") and f"HOME={self.home}".encode() in environment:
                found.append(int(entry))
        return found

    @property
    def conf(self):
        """The path of the user's browser.conf."""
        return os.path.join(self.home, ".config", "handoff", "browser.conf")

    def write_conf(self, text):
        os.makedirs(os.path.dirname(self.conf), exist_ok=True)
        with open(self.conf, "w") as file:
            file.write(text)

    def visit(self, url, width):
        """Loads a page, not the same one twice, in the tab of the previous visit. A new tab costs more than most pages."""
        if self.visiting:
            self.show(self.visiting)
            self.navigate(self.visiting, url)
        else:
            self.visiting = self.open(url, width=width)
        return self.visiting

    def clear(self):
        """Closes all pages, and removes what a test may have set."""
        self.visiting = None
        if os.path.lexists(self.conf):
            os.remove(self.conf)
        self.clear_pages()

    def failure(self, what):
        return Failure(f"{self.name}: {what}: {tail(self.log)}")


class Chromium(Browser):
    """Chromium with its users' settings, except for the sandbox, which does not work for root."""

    program = "chromium"

    def __init__(self, stage, name, daemon, *words, headless=True, start=True, **more):
        super().__init__(stage, name, daemon, **more)
        if self.extension:
            host_manifest(os.path.join(self.profile, "NativeMessagingHosts"), "chromium")
        # The browser reads from 3 and writes to 4.
        pipes = [os.path.join(self.home, pipe) for pipe in ("to", "from")]
        for pipe in pipes:
            os.mkfifo(pipe)
        self.writing, self.reading = (os.open(pipe, os.O_RDWR | os.O_CLOEXEC) for pipe in pipes)
        words = [
            "bash", "-c", 'exec "$@" 3<"$0/to" 4>"$0/from"', self.home, self.path, *(["--headless=new"] if headless else []),
            "--no-sandbox", "--disable-gpu", "--no-first-run", "--mute-audio", "--autoplay-policy=no-user-gesture-required",
            f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "--disable-background-networking",
            "--disable-component-update", "--renderer-process-limit=1", *([f"--load-extension={self.extension}"] if self.extension else []),
            "--host-resolver-rules=MAP *.example 127.0.0.1", *words, "about:blank"]
        self.received, self.number, self.sessions = b"", 0, {}
        if start:
            self.spawn(words)
            self.connect()
        else:
            self.starter = self.script(*words)

    def connect(self):
        self.call("Target.getTargets")

    def call(self, method, parameters=None, session=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.received:
                if self.process and self.process.poll() is not None:
                    raise self.failure("it has ended")
                if select.select([self.reading], [], [], 1)[0]:
                    self.received += os.read(self.reading, 1 << 16)
            text, self.received = self.received.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]

    def tabs(self, url=None):
        """Returns each page by its target, with its address. With an address, only the pages of that address."""
        found = self.call("Target.getTargets")["targetInfos"]
        return {one["targetId"]: one["url"] for one in found if one["type"] == "page" and url in (None, one["url"])}

    def open(self, url, private=False, width=None, height=900):
        context = {}
        if private:
            context["browserContextId"] = self.call("Target.createBrowserContext")["browserContextId"]
        tab = self.call("Target.createTarget", {"url": url, **context})["targetId"]
        if width:
            self.resize(tab, width, height)
        self.wait_for(tab, url)
        return tab

    def wait_for(self, tab, url):
        limit = time.monotonic() + 30
        while not self.run(tab, f"document.readyState === 'complete' && location.href === {json.dumps(url)}"):
            if time.monotonic() > limit:
                raise self.failure(f"{url} does not come")
            time.sleep(0.02)

    def resize(self, tab, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}, self.session(tab))

    def session(self, tab):
        if tab not in self.sessions:
            answer = self.call("Target.attachToTarget", {"targetId": tab, "flatten": True})
            self.sessions[tab] = answer["sessionId"]
        return self.sessions[tab]

    def run(self, tab, script):
        """Returns the value of an expression in a page."""
        answer = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True},
                           self.session(tab))
        if "exceptionDetails" in answer:
            raise Failure(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open_many(self, urls):
        """Opens pages behind the one in front, without waiting for them."""
        for url in urls:
            self.call("Target.createTarget", {"url": url, "background": True})

    def tab_titles(self):
        """Returns the titles of all open pages."""
        return [one["title"] for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"]

    def navigate(self, tab, url):
        self.call("Page.navigate", {"url": url}, self.session(tab))
        self.wait_for(tab, url)

    def show(self, tab):
        self.call("Target.activateTarget", {"targetId": tab})

    def close_tab(self, tab):
        self.call("Target.closeTarget", {"targetId": tab})

    def clear_pages(self):
        blank = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        for tab in self.tabs():
            if tab != blank:
                self.close_tab(tab)
        self.call("Storage.clearCookies")
        until("the end of the pages", lambda: list(self.tabs()) == [blank])
        self.sessions.clear()


class Firefox(Browser):
    """Firefox ESR."""

    program = "firefox-esr"

    def __init__(self, stage, name, daemon, *words, sites=(), headless=True, private=False, driven=True,
                 start=True, **more):
        """With `private` the extension is allowed in private windows. Without `driven` the browser
        has its users' settings."""
        super().__init__(stage, name, daemon, **more)
        if self.extension:
            host_manifest(os.path.join(self.home, ".mozilla", "native-messaging-hosts"), "firefox")
        # It chooses a free port, and writes it to a file.
        values = {**PREFERENCES, "marionette.port": 0, "network.dns.localDomains": ",".join(sites),
                  **(DRIVEN if driven else {})}
        with open(os.path.join(self.profile, "user.js"), "w") as file:
            for key, value in values.items():
                file.write(f"user_pref({json.dumps(key)}, {json.dumps(value)});\n")
        self.private, self.preferred = private, []
        words = [self.path, *(["--headless"] if headless else []),
                 *(["--marionette", "--remote-allow-system-access"] if driven else []), "--no-remote", "--profile",
                 self.profile, *words]
        if not start:
            self.starter = self.script(*words)
            return
        self.spawn(words)
        if driven:
            self.connect()

    def connect(self):
        limit = time.monotonic() + 60
        while True:
            try:
                with open(os.path.join(self.profile, "MarionetteActivePort")) as file:
                    self.socket = socket.create_connection(("127.0.0.1", int(file.read())))
                break
            except (OSError, ValueError):
                if self.process and self.process.poll() is not None or time.monotonic() > limit:
                    raise self.failure("nobody drives it") from None
                time.sleep(0.05)
        self.reader, self.number = self.socket.makefile("rb"), 0
        self.message()
        self.call("WebDriver:NewSession", {"capabilities": {}})
        self.first = self.current = self.call("WebDriver:GetWindowHandle")["value"]
        self.size = self.call("WebDriver:GetWindowRect")
        if self.extension:
            self.install(self.extension, self.private)

    def install(self, extension, private):
        """Loads an extension from a folder, in place of a previous version of it."""
        self.call("Addon:Install", {"path": extension, "temporary": True, "allowPrivateBrowsing": private})

    def prefer(self, preference):
        """Sets a preference until the pages are cleared."""
        self.in_browser("Services.prefs.setBoolPref(arguments[0], true)", preference)
        self.preferred.append(preference)

    def message(self):
        length = b""
        while not length.endswith(b":"):
            one = self.reader.read(1)
            if not one:
                raise self.failure("it has ended")
            length += one
        return json.loads(self.reader.read(int(length[:-1])))

    def call(self, name, parameters=None):
        self.number += 1
        text = json.dumps([0, self.number, name, parameters or {}]).encode()
        self.socket.sendall(b"%d:" % len(text) + text)
        while True:
            message = self.message()
            if message[1] == self.number:
                if message[2]:
                    raise Failure(f"{name}: {message[2]}")
                return message[3]

    def in_browser(self, script, *arguments):
        """Runs a function body with the privileges of the browser itself."""
        self.call("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.call("WebDriver:ExecuteScript", {"script": script, "args": list(arguments)})["value"]
        finally:
            self.call("Marionette:SetContext", {"value": "content"})

    def tabs(self, url=None):
        found = {}
        for handle in self.call("WebDriver:GetWindowHandles"):
            try:
                self.switch(handle)
                address = self.call("WebDriver:GetCurrentURL")["value"]
            except Failure:
                continue  # It was just closed.
            if url in (None, address):
                found[handle] = address
        return found

    def open(self, url, private=False, width=None, height=900):
        # A tab opens in the last focused window, which may be a private one.
        self.show(self.first)
        kind = {"type": "window", "private": True} if private else {"type": "tab"}
        tab = self.call("WebDriver:NewWindow", {**kind, "focus": True})["handle"]
        self.show(tab)
        if width:
            self.resize(tab, width, height)
        self.navigate(tab, url)
        return tab

    def open_many(self, urls):
        """Opens pages behind the one in front, without waiting for them."""
        self.in_browser("""
            for (const url of arguments[0]) {
                gBrowser.addTab(url, { triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });
            }""", list(urls))

    def tab_titles(self):
        """Returns the titles of all pages of the window."""
        return self.in_browser("return gBrowser.tabs.map((tab) => tab.label)")

    def resize(self, tab, width, height=900):
        self.show(tab)
        self.call("WebDriver:SetWindowRect", {"width": width, "height": height})

    def run(self, tab, script):
        self.switch(tab)
        return self.call("WebDriver:ExecuteScript", {"script": f"return ({script})", "args": []})["value"]

    def navigate(self, tab, url):
        self.switch(tab)
        self.call("WebDriver:Navigate", {"url": url})

    def switch(self, tab):
        """Selects a page for the following calls, without showing it."""
        if tab != self.current:
            self.call("WebDriver:SwitchToWindow", {"handle": tab, "focus": False})
            self.current = tab

    def show(self, tab):
        self.call("WebDriver:SwitchToWindow", {"handle": tab, "focus": True})
        self.current = tab

    def close_tab(self, tab):
        self.switch(tab)
        self.current = None
        self.call("WebDriver:CloseWindow")

    def clear_pages(self):
        self.show(self.first)
        self.in_browser("""
            for (const each of Services.wm.getEnumerator("navigator:browser")) if (each !== window) each.close();
            gBrowser.removeAllTabsBut(gBrowser.selectedTab, { animate: false });
            Services.cookies.removeAll();
            for (const each of arguments[0]) Services.prefs.clearUserPref(each);""", self.preferred)
        self.navigate(self.first, "about:blank")
        self.resize(self.first, self.size["width"], self.size["height"])
