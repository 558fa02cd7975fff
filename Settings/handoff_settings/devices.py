"""The devices of the account: presence, names, adding and removing."""

from typing import Callable, Optional

from gi.repository import Adw, GLib, Gtk
from handoff_locale import _, ngettext

from . import values
from .model import Model
from .pairing import PairingDialog
from .texts import short, visible
from .varlink import Call, Failure
from .widgets import Page, Row, Rows, accept_files, button, icon_button, label, name, show_kind

# The maximum length of a device's name, in bytes.
_MAX_NAME = 64


class DeviceRow(Row):
    """A device with its actions."""

    def __init__(self, page: "DevicesPage") -> None:
        super().__init__()
        self.device: Optional[values.Device] = None
        self._icon = Gtk.Image()
        self.add_prefix(self._icon)
        self._rename = icon_button("document-edit-symbolic", _("Rename"), lambda: page.rename(self.device))
        self._remove = icon_button("user-trash-symbolic", _("Remove"), lambda: page.remove(self.device))
        self._send = icon_button("document-send-symbolic", _("Send"), lambda: page.send(self.device, []))
        self._target = accept_files(self, lambda uris: page.send(self.device, uris))
        self.add_suffix(self._send)
        self.add_suffix(self._rename)
        self.add_suffix(self._remove)

    def show_device(self, device: values.Device) -> None:
        self.device = device
        show_kind(self._icon, device.kind)
        shown = visible(device.label)
        self.show(shown, "  ·  ".join(state_of(device)))
        for each in (self._remove, self._send):
            each.set_visible(not device.is_self)
        self._target.set_propagation_phase(
            Gtk.PropagationPhase.NONE if device.is_self else Gtk.PropagationPhase.BUBBLE)
        name(self._send, _("Send to {device}").format(device=shown))
        name(self._rename, _("Rename {device}").format(device=shown))
        name(self._remove, _("Remove {device}").format(device=shown))


def _name_error(text: str, others: list[values.Device]) -> str:
    """Returns why a text cannot be a device's name besides these others; empty if it can."""
    if not text:
        return _("Enter a name.")
    if len(text.encode()) > _MAX_NAME:
        return _("This name is too long. Use at most {number} bytes.").format(number=_MAX_NAME)
    alike = next((each for each in others if each.name.casefold() == text.casefold()), None)
    return _("Another device ({id}) has this name.").format(id=short(alike.id)) if alike else ""


def state_of(device: values.Device) -> list[str]:
    """Returns the state of a device for display."""
    if device.is_self:
        words = [_("This device")]
    elif device.online:
        words = [_("Online")]
    elif device.asleep:
        words = [_("Asleep since {time}").format(time=device.asleep)]
    elif device.seen:
        words = [_("Last seen {time}").format(time=device.seen)]
    else:
        words = [_("Offline")]
    if device.unfinished:
        words.append(_("has not finished joining: let it join again, or remove it"))
    elif not device.current and (device.is_self or device.online):
        words.append(_("does not have the latest key yet"))
    return words


class DevicesPage(Page):
    """The page of devices. `inform` shows a short message, and `fail` an error."""

    def __init__(self, model: Model, inform: Callable[[str], None], fail: Callable[[str], None]) -> None:
        super().__init__()
        self._model, self._inform, self._fail = model, inform, fail
        self._rows = Rows(lambda _: DeviceRow(self), lambda row, device: row.show_device(device))
        self.heading(_("Devices"), _("Only these devices can see each other’s offers."))
        self._add = button(
            _("_Add a Device…"), self.pair, "suggested-action", "pill", halign=Gtk.Align.CENTER, margin_top=6
        )
        self._alone = label(_("Add another device to use Handoff."), "dim-label")
        self.add(self._rows, self._alone, self._add)
        self.heading(
            _("Account"), _("When this device leaves, it deletes its account data. It can join again later."))
        self.add(button(_("_Leave the Account…"), self.leave, halign=Gtk.Align.START))

    def refresh(self) -> None:
        """Shows the state of the model."""
        devices = self._model.devices
        self._rows.show_all((each.id, each) for each in devices)
        self._alone.set_visible(len(devices) < 2)

    def _failed(self, failure: Failure) -> None:
        self._fail(visible(failure.message, 1000))

    def _done(self, failure: Optional[Failure]) -> None:
        if failure:
            self._failed(failure)

    # ---- Adding, sending, naming, removing, leaving ------------------------------------------------------------------

    def pair(self) -> None:
        """Opens the dialog that adds a device."""
        def joined(device: values.Peer) -> None:
            self._inform(_("{device} was added").format(device=visible(device.name)))

        PairingDialog(self.get_root(), joined).present()

    def send(self, device: values.Device, uris: list[str]) -> None:
        """Opens the window that sends files to a device."""
        self.get_root().get_application().activate_action("send-to", GLib.Variant("(sas)", (device.id, uris)))

    def rename(self, device: values.Device) -> None:
        """Asks the user for a new name."""
        dialog = Adw.MessageDialog(
            transient_for=self.get_root(),
            heading=_("Rename {device}").format(device=visible(device.label)),
            body=_("All your devices show this name."),
        )
        entry = Gtk.Entry(text=device.name, activates_default=True)
        name(entry, _("Name"))
        reason = label("", "dim-label")
        # Room for two lines, because this dialog does not grow.
        reason.set_size_request(-1, reason.create_pango_layout("\n").get_pixel_size()[1])
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
        box.append(entry)
        box.append(reason)
        dialog.set_extra_child(box)
        dialog.add_response("cancel", _("_Cancel"))
        dialog.add_response("rename", _("_Rename"))
        dialog.set_response_appearance("rename", Adw.ResponseAppearance.SUGGESTED)
        dialog.set_default_response("rename")

        others = [each for each in self._model.devices if each.id != device.id]

        def typed(*_: object) -> None:
            error = _name_error(entry.get_text().strip(), others)
            reason.set_label(error)
            dialog.set_response_enabled("rename", not error)

        def answered(_dialog: Adw.MessageDialog, response: str) -> None:
            if response == "rename":
                self._model.do(
                    "RenameDevice", {"device": device.id, "name": entry.get_text().strip()}, self._done, "devices"
                )

        entry.connect("changed", typed)
        dialog.connect("response", answered)
        dialog.present()

    def remove(self, device: values.Device) -> None:
        """Asks for confirmation, and removes a device."""
        shown = visible(device.label)
        dialog = Adw.MessageDialog(
            transient_for=self.get_root(),
            heading=_("Remove {device}?").format(device=shown),
            body=_(
                "The device ({id}) is removed permanently. It can no longer see your other devices, and can rejoin only "
                "with a new code. It can still read the offers of a device until that device learns of the removal."
            ).format(id=short(device.id)),
        )
        dialog.add_response("cancel", _("_Cancel"))
        dialog.add_response("remove", _("_Remove"))
        dialog.set_response_appearance("remove", Adw.ResponseAppearance.DESTRUCTIVE)
        dialog.set_default_response("cancel")
        admitted = [each for each in self._model.devices if each.admitted_by == device.id and not each.is_self]
        checks = [
            (each, Gtk.CheckButton(label=_("Also remove {device}, which it added").format(device=visible(each.label))))
            for each in admitted
        ]
        if checks:
            box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
            for pair in checks:
                box.append(pair[1])
            dialog.set_extra_child(box)

        def answered(_dialog: Adw.MessageDialog, response: str) -> None:
            if response == "remove":
                self._remove(device, [each.id for each, check in checks if check.get_active()])

        dialog.connect("response", answered)
        dialog.present()

    def _remove(self, device: values.Device, dropped: list[str]) -> None:
        shown = visible(device.label)

        def reply(results: dict) -> None:
            left = values.texts(results, "waiting")
            if results.get("event") == "removed" and left:
                names = [visible(found.label) for found in map(self._model.device, left) if found]
                self._inform(
                    _("{device} was removed. {others} will be notified when reachable").format(
                        device=shown, others=", ".join(names)) if names else
                    ngettext(
                        "{device} was removed. {count} device will be notified when reachable",
                        "{device} was removed. {count} devices will be notified when reachable", len(left)
                    ).format(device=shown, count=len(left)))
            elif not left:
                self._inform(_("{device} was removed, and all devices were notified").format(device=shown))

        Call("RemoveDevice", {"device": device.id, "drop": dropped}, more=True, reply=reply, failed=self._failed)

    def leave(self) -> None:
        """Asks for confirmation, and removes this device from the account."""
        others = sum(not each.is_self for each in self._model.devices)
        dialog = Adw.MessageDialog(
            transient_for=self.get_root(), heading=_("Leave the Account?"),
            body=_("This device and your other devices will no longer see each other’s offers.") if others else
            _("This is the last device in the account. Leaving deletes the account."))
        dialog.add_response("cancel", _("_Cancel"))
        dialog.add_response("leave", _("_Leave"))
        dialog.set_response_appearance("leave", Adw.ResponseAppearance.DESTRUCTIVE)
        dialog.set_default_response("cancel")

        def answered(_dialog: Adw.MessageDialog, response: str) -> None:
            if response == "leave":
                self._model.do("LeaveAccount", {}, self._done, "status")

        dialog.connect("response", answered)
        dialog.present()
