"""Stock Varlink clients against the daemon: the one from PyPI, which needs the Python package
'varlink', and Debian's for Go."""

import json
import os
import subprocess
import threading

from go_client import built
from harness import Failure, Skip, expect, main, release, same, test

try:
    import varlink
except ImportError:
    varlink = None

CONTROL, APPS, SERVICE = "dev.handoff1.Control", "dev.handoff1", "org.varlink.service"


def client(daemon):
    if varlink is None:
        raise Skip("the Python package 'varlink' is not installed (pip install varlink)")
    return varlink.Client.new_with_address(f"unix:{daemon.socket}")


@test("it introspects interfaces, their descriptions, and the service")
def introspection(stage):
    daemon = stage.daemon("one")
    stock = client(daemon)
    with stock.open(SERVICE) as service:
        info = service.GetInfo()
    expect({CONTROL, APPS, SERVICE} <= set(info["interfaces"]), f"wrong interfaces: {info}")
    expect(info["product"] and info["version"], f"wrong info: {info}")
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "Sources", "HandoffControl", "Interfaces")
    for name in (CONTROL, APPS):
        description = stock.get_interface(name).description
        with open(os.path.join(folder, f"{name}.varlink")) as file:
            expect(description == file.read(), f"the description of {name} is not the file in the repository")


@test("it lists, publishes, watches and continues")
def whole_way(stage):
    origin, taker = stage.pair()
    with client(taker).open(CONTROL) as control:
        expect(control.ListActivities()["activities"] == [], "unexpected activity")
        expect(control.GetStatus()["name"] == "taker", "wrong name")
    told = []
    apps = client(origin).open(APPS)
    events = apps.Publish(
        activity={"type": "com.example.editing", "title": "From Python", "userInfo": {"page": 3, "scale": 1.0}},
        _more=True)
    published = next(events)
    expect(published["event"] == "published", f"wrong event: {published}")
    follower = threading.Thread(target=lambda: told.extend([next(events)]), daemon=True)
    follower.start()
    with client(taker).open(CONTROL) as control:
        for change in control.Watch(_more=True):
            if change["event"] == "added":
                expect(change["activity"]["id"] == published["activity"], f"wrong activity: {change}")
                break
    with client(taker).open(CONTROL) as control:
        offered = control.ListActivities()["activities"]
        expect([offer["title"] for offer in offered] == ["From Python"], f"wrong list: {offered}")
        replies = list(control.Continue(activity=published["activity"], take=True, _more=True))
    expect(replies[-1]["event"] == "continued", f"wrong replies: {replies}")
    expect(same(replies[-1]["activity"]["userInfo"], {"page": 3, "scale": 1.0}), f"wrong payload: {replies}")
    follower.join(20)
    expect(told and told[0]["event"] == "continued" and told[0]["origin"]["deviceName"] == "taker", f"reported: {told}")


@test("an activity lives as long as the connection that published it")
def lifetime(stage):
    origin, taker = stage.pair()
    apps = client(origin).open(APPS)
    events = apps.Publish(activity={"type": "com.example.editing"}, _more=True)
    published = next(events)["activity"]
    watch = taker.follow("watch")
    watch.wait("added", id=published)
    apps.close()
    del events, apps
    watch.wait("removed", id=published, within=5)


@test("errors have their names and fields")
def errors(stage):
    daemon = stage.daemon("one")
    cases = [
        (CONTROL, "RemovePeer", {"address": "nowhere"}, f"{CONTROL}.InvalidAddress"),
        (CONTROL, "Watch", {}, f"{CONTROL}.ExpectedMore"),
        (CONTROL, "ExportAccount", {}, f"{CONTROL}.ExpectedUpgrade"),
        (APPS, "BecomeCurrent", {"session": "x", "activity": "y"}, f"{APPS}.NoSuchSession"),
    ]
    for interface, method, parameters, name in cases:
        with client(daemon).open(interface) as connection:
            try:
                getattr(connection, method)(**parameters)
            except varlink.VarlinkError as error:
                expect(error.error() == name, f"{method}: {error.error()} instead of {name}")
            else:
                raise Failure(f"{method} was not refused")
    with client(daemon).open(SERVICE) as service:
        try:
            service.GetInterfaceDescription("dev.handoff1.None")
        except varlink.VarlinkError as error:
            expect(error.error() in (f"{SERVICE}.InterfaceNotFound", f"{SERVICE}.InvalidParameter"), f"{error.error()}")
        else:
            raise Failure("an unknown interface was described")


@test("the Go client introspects, calls, and receives errors by name")
def go_client(stage):
    client, daemon = built(stage), stage.daemon("one")

    def ask(*words, code=0):
        done = subprocess.run([client, words[0], f"unix:{daemon.socket}", *words[1:]], capture_output=True, text=True, timeout=30)
        expect(done.returncode == code, f"{words}: {done.returncode} {done.stdout} {done.stderr}")
        return done.stdout

    info = json.loads(ask("ask"))
    expect({CONTROL, APPS, SERVICE} <= set(info["methods"]) and all(info["methods"].values()), f"{info}")
    expect(release() in info["version"], f"{info}")
    expect(json.loads(ask("call", f"{CONTROL}.GetStatus", "{}"))["name"] == "one", "wrong name")
    refused = ask("call", f"{CONTROL}.RemovePeer", '{"address": "nowhere"}', code=3)
    expect(refused.strip() == f"{CONTROL}.InvalidAddress", refused)


if __name__ == "__main__":
    main()
