"""Values from the daemon. Missing or invalid fields are read as empty, so that less is shown but nothing fails."""

import re
import time
from dataclasses import dataclass
from typing import Any, Optional

from handoff_locale import _

from .texts import at, moment

# The id of a component in AppStream, as a part of an address.
_COMPONENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
# The id of an app.
_APP = re.compile(r"[!-.0-~]{1,255}")


def _text(fields: dict, key: str, otherwise: str = "") -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else otherwise


def _flag(fields: dict, key: str) -> bool:
    return fields.get(key) is True


def _number(fields: dict, key: str) -> Optional[float]:
    value = fields.get(key)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _objects(fields: dict, key: str) -> list[dict]:
    value = fields.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def texts(fields: dict, key: str) -> list[str]:
    """Returns the texts of a list."""
    value = fields.get(key)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


@dataclass(frozen=True)
class Restriction:
    """Turns `advertise` or `receive` (`direction`) off; `by` is `user`, `configuration`, `policy` or `session`."""

    direction: str
    by: str
    device: Optional[str]
    until: Optional[float]
    message: str

    @classmethod
    def read(cls, fields: dict) -> "Restriction":
        return cls(
            _text(fields, "direction"),
            _text(fields, "by"),
            _text(fields, "device") or None,
            _number(fields, "until"),
            _text(fields, "message"),
        )


@dataclass(frozen=True)
class Status:
    """The shown part of `GetStatus`."""

    daemon: str = ""
    device: str = ""
    name: str = ""
    account: Optional[str] = None
    standing: str = ""
    advertising: bool = True
    receiving: bool = True
    restrictions: tuple[Restriction, ...] = ()
    # True if the devices keep each other's activities; None from an older daemon.
    keeping: Optional[bool] = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def read(cls, fields: dict) -> "Status":
        return cls(
            _text(fields, "daemon"), _text(fields, "device"), _text(fields, "name"), _text(fields, "account") or None,
            _text(fields, "standing"), _flag(fields, "advertising"), _flag(fields, "receiving"),
            tuple(map(Restriction.read, _objects(fields, "holds"))),
            _flag(fields, "keeping") if "keeping" in fields else None, tuple(texts(fields, "warnings")))

    def restriction(self, direction: str) -> Optional[Restriction]:
        """Returns the strongest restriction of a direction as a whole."""
        strength = ("policy", "configuration", "user", "session")
        found = [each for each in self.restrictions if each.direction == direction and each.device is None]
        return min(
            found, key=lambda each: strength.index(each.by) if each.by in strength else len(strength), default=None
        )


@dataclass(frozen=True)
class Device:
    """A device of the account."""

    id: str
    name: str
    # The label: the name, with the start of the id if another device has a similar name.
    label: str
    kind: str
    is_self: bool
    online: bool
    current: bool
    unfinished: bool
    admitted_by: Optional[str]
    # The time of the last contact, formatted, if the device is offline.
    seen: str
    # The time since which it sleeps, formatted, if it has announced that.
    asleep: str
    # The maximum size in bytes of a document that is saved without a prompt; None if every item needs one.
    accept_limit: Optional[int] = None

    @classmethod
    def read(cls, fields: dict) -> "Device":
        heard = None if _flag(fields, "online") else _number(fields, "heard")
        asleep = None if _flag(fields, "online") else _number(fields, "asleepSince")
        limit = _number(fields, "acceptLimit")
        return cls(
            _text(fields, "id"),
            _text(fields, "name"),
            _text(fields, "label") or _text(fields, "name"),
            _text(fields, "kind"),
            _flag(fields, "self"),
            _flag(fields, "online"),
            _flag(fields, "current"),
            _flag(fields, "unfinished"),
            _text(fields, "admittedBy") or None,
            "" if heard is None else moment(heard),
            "" if asleep is None else moment(time.time() - asleep),
            None if limit is None else int(min(limit, 2.0**63 - 1024)),
        )


@dataclass(frozen=True)
class Missing:
    """Something that an activity needs and that this device does not have."""

    kind: str
    name: str
    # The id of the app in AppStream; empty if it is unknown or invalid.
    component: str

    @classmethod
    def read(cls, fields: dict) -> "Missing":
        component = _text(fields, "appStream")
        return cls(_text(fields, "kind"), _text(fields, "name"), component if _COMPONENT.fullmatch(component) else "")

    @property
    def words(self) -> str:
        """The missing thing as a noun phrase, to be shown after `visible`."""
        texts = {"folder": _("the shared folder “{name}”"), "checkout": _("a checkout of {name}")}
        app = _("the app {id}") if self.component else _("an app for {name}")
        return texts.get(self.kind, app).format(name=self.name, id=self.component)


def missing(fields: dict) -> tuple[Missing, ...]:
    """Parses the field `missing` of an offer or a reply."""
    return tuple(map(Missing.read, _objects(fields, "missing")))


@dataclass(frozen=True)
class Kept:
    """Why this device has a copy of an activity. `state` is `asleep`, `offline` or `ended`."""

    state: str
    # When the device announced that it goes to sleep, and when the state was saved, formatted.
    since: str
    time: str

    @classmethod
    def read(cls, fields: Any) -> "Optional[Kept]":
        if not isinstance(fields, dict):
            return None
        since = _number(fields, "since")
        return cls(_text(fields, "state", "offline"), "" if since is None else at(since), at(_number(fields, "asOf") or 0.0))

    def words(self, is_own: bool = False) -> str:
        """The state as a sentence fragment. `is_own`: the activity is of this device."""
        if self.state == "ended":
            return (_("closed here at {time}") if is_own else _("closed there at {time}")).format(time=self.time)
        if self.state != "asleep":
            return _("offline, as of {time}").format(time=self.time)
        if not self.since:
            return _("asleep, as of {time}").format(time=self.time)
        return _("asleep since {since}, as of {time}").format(since=self.since, time=self.time)

    def missing_words(self, device: str) -> str:
        """What is not available of an activity with streams, as a sentence fragment."""
        if self.state == "ended":
            return _("files and streams no longer available")
        return _("files and streams not available until {device} is back").format(device=device)


@dataclass(frozen=True)
class Newer:
    """A newer state of an activity, because of which it was not continued."""

    activity: str
    device: str
    device_name: str
    # True if it is on this device, which cannot continue it.
    is_here: bool
    # Since when the device has it, formatted.
    time: str

    @classmethod
    def read(cls, fields: Any) -> "Optional[Newer]":
        if not isinstance(fields, dict):
            return None
        return cls(_text(fields, "activity"), _text(fields, "device"), _text(fields, "deviceName"), _flag(fields, "here"),
                   at(_number(fields, "since") or 0.0))


@dataclass(frozen=True)
class Published:
    """An activity of this device that another one has continued."""

    # The key of the other device's newer state, and since when it has it, formatted.
    newer: tuple[str, str]
    time: str

    @classmethod
    def read(cls, fields: dict) -> "Optional[Published]":
        newer = Newer.read(fields.get("newer"))
        return cls((newer.device, newer.activity), newer.time) if newer else None


@dataclass(frozen=True)
class Offer:
    """An offer of another device. `opens` is `app`, `web` or `nothing`."""

    id: str
    type: str
    title: str
    device: str
    device_name: str
    device_kind: str
    age: float
    sent: bool
    opens: str
    opener: str
    reason: str
    # True if there is a web page.
    has_page: bool
    # The ids and names of the apps that continue it, if there are several.
    choices: tuple[tuple[str, str], ...]
    missing: tuple[Missing, ...]
    streams: bool = False
    # None while the device offers it.
    kept: Optional[Kept] = None
    # True if the app there edits it exclusively.
    exclusive: bool = False

    @classmethod
    def read(cls, fields: Any) -> "Offer":
        fields = fields if isinstance(fields, dict) else {}
        opens = fields.get("opens")
        opens = opens if isinstance(opens, dict) else {}
        return cls(
            _text(fields, "id"),
            _text(fields, "type"),
            _text(fields, "title"),
            _text(fields, "device"),
            _text(fields, "deviceName"),
            _text(fields, "deviceKind"),
            _number(fields, "age") or 0.0,
            _flag(fields, "sent"),
            _text(opens, "kind", "nothing"),
            _text(opens, "name"),
            _text(opens, "reason"),
            _flag(fields, "hasWebpageURL"),
            tuple((_text(each, "app"), _text(each, "name")) for each in _objects(opens, "choices")
                  if _APP.fullmatch(_text(each, "app"))),
            missing(fields),
            _flag(fields, "streams"),
            Kept.read(fields.get("kept")),
            _flag(fields, "exclusive"),
        )

    @property
    def key(self) -> tuple[str, str]:
        """The key of the offer, because two devices may offer the same id."""
        return self.device, self.id


@dataclass(frozen=True)
class App:
    """An app that continues activities on this device, is attached, or is disabled."""

    id: str
    name: str
    running: bool
    enabled: bool
    # True if notifications are shown for the app.
    notified: bool

    @classmethod
    def read(cls, fields: dict) -> "App":
        return cls(
            _text(fields, "id"),
            _text(fields, "name"),
            _flag(fields, "running"),
            _flag(fields, "enabled"),
            _flag(fields, "notified"),
        )


@dataclass(frozen=True)
class Peer:
    """A device at the other end of a pairing."""

    id: str
    name: str

    @classmethod
    def read(cls, fields: Any) -> "Peer":
        fields = fields if isinstance(fields, dict) else {}
        return cls(_text(fields, "id"), _text(fields, "name"))


def devices(fields: dict) -> list[Device]:
    """Parses the results of `ListDevices`: this device first, then online devices, by name."""
    found = map(Device.read, _objects(fields, "devices"))
    return sorted(found, key=lambda each: (not each.is_self, not each.online, each.name.casefold(), each.id))


def activities(fields: dict) -> list[Offer]:
    """Parses the results of `ListActivities`."""
    return list(map(Offer.read, _objects(fields, "activities")))


def published(fields: dict) -> list[Published]:
    """Parses the results of `ListPublished`: the activities of which other devices have a newer state."""
    return [each for each in map(Published.read, _objects(fields, "activities")) if each]


def apps(fields: dict) -> list[App]:
    """Parses the results of `ListApps`, sorted by name."""
    return sorted(map(App.read, _objects(fields, "apps")), key=lambda each: (each.name.casefold(), each.id))
