"""The installed files, and the common parts of the tests of all kinds of packages."""

import os
import shutil
import subprocess

from harness import BIN, ROOT, Skip, expect

with open(os.path.join(ROOT, "po", "LINGUAS")) as file:
    LANGUAGES = file.read().split()
# Of the extension, which has a package of its own.
BROWSERS = [f"usr/share/webext/handoff/_locales/{language}/messages.json" for language in ("en", *LANGUAGES)] + """
    etc/chromium/native-messaging-hosts/dev.handoff1.browser.json usr/lib/mozilla/native-messaging-hosts/dev.handoff1.browser.json
    usr/share/chromium/extensions/handoff
    usr/share/mozilla/extensions/{ec8030f7-c20a-464f-9b0e-13a3a9e97384}/browser@handoff1.dev
    usr/share/handoff/handlers.d/chromium.json usr/share/handoff/handlers.d/firefox-esr.json
    usr/share/webext/handoff/background.js usr/share/webext/handoff/front.js usr/share/webext/handoff/host.js
    usr/share/webext/handoff/inject.js usr/share/webext/handoff/manifest.json usr/share/webext/handoff/opening.js
    usr/share/webext/handoff/page.js usr/share/webext/handoff/panel.js usr/share/webext/handoff/popup.css
    usr/share/webext/handoff/popup.html usr/share/webext/handoff/popup.js usr/share/webext/handoff/icon-16.png
    usr/share/webext/handoff/address.js usr/share/webext/handoff/boxes.js usr/share/webext/handoff/going.js
    usr/share/webext/handoff/pages.js usr/share/webext/handoff/readable.js usr/share/webext/handoff/rows.js
    usr/share/webext/handoff/icon-32.png usr/share/webext/handoff/icon-48.png usr/share/webext/handoff/icon-128.png
    usr/share/webext/handoff/language.js
""".split()
# Of the window, which has one as well.
SETTINGS = """
    usr/bin/handoff-settings usr/share/applications/dev.handoff1.Settings.desktop
    usr/share/dbus-1/services/dev.handoff1.Settings.service usr/share/metainfo/dev.handoff1.Settings.metainfo.xml
    usr/share/icons/hicolor/scalable/apps/dev.handoff1.Settings.svg
    usr/share/icons/hicolor/symbolic/apps/dev.handoff1.Settings-laptop-symbolic.svg
    usr/share/icons/hicolor/symbolic/apps/dev.handoff1.Settings-symbolic.svg usr/share/man/man1/handoff-settings.1
    usr/share/handoff-settings/handoff_settings/__init__.py usr/share/handoff-settings/handoff_settings/application.py
    usr/share/handoff-settings/handoff_settings/devices.py usr/share/handoff-settings/handoff_settings/doctor.py
    usr/share/handoff-settings/handoff_settings/first_run.py usr/share/handoff-settings/handoff_settings/joining.py
    usr/share/handoff-settings/handoff_settings/link.py usr/share/handoff-settings/handoff_settings/messages.py
    usr/share/handoff-settings/handoff_settings/model.py
    usr/share/handoff-settings/handoff_settings/offers.py usr/share/handoff-settings/handoff_settings/pairing.py
    usr/share/handoff-settings/handoff_settings/problems.py usr/share/handoff-settings/handoff_settings/process.py usr/share/handoff-settings/handoff_settings/qrcode.py
    usr/share/handoff-settings/handoff_settings/saving.py usr/share/handoff-settings/handoff_settings/send_rows.py usr/share/handoff-settings/handoff_settings/send_window.py usr/share/handoff-settings/handoff_settings/sending.py
    usr/share/handoff-settings/handoff_settings/shortcuts.py usr/share/handoff-settings/handoff_settings/style.css usr/share/handoff-settings/handoff_settings/switches.py usr/share/handoff-settings/handoff_settings/texts.py
    usr/share/handoff-settings/handoff_settings/values.py usr/share/handoff-settings/handoff_settings/varlink.py
    usr/share/handoff-settings/handoff.py
    usr/lib/handoff/handoff-search usr/share/dbus-1/services/dev.handoff1.Search.service
    usr/lib/handoff/handoff-programs usr/lib/systemd/user/handoff-programs.path
    usr/lib/systemd/user/handoff-programs.service
    usr/share/handoff-settings/programs/fetching.py
    usr/share/handoff-settings/programs/host.py usr/share/handoff-settings/programs/mpris.py
    usr/share/handoff-settings/programs/opening.py usr/share/handoff-settings/programs/players.py
    usr/share/handoff-settings/programs/documents.py usr/share/handoff-settings/programs/files.py
    usr/share/handoff-settings/programs/foreground.py
    usr/share/handoff-settings/programs/readers.py usr/share/handoff-settings/programs/recent.py
    usr/share/handoff/handlers.d/dev.handoff1.documents.json usr/share/handoff/handlers.d/dev.handoff1.players.json
    usr/share/handoff/handlers.d/dev.handoff1.readers.json
    usr/share/handoff-settings/handoff_send.py usr/share/nautilus-python/extensions/handoff_send.py
    usr/share/caja-python/extensions/handoff_send.py usr/share/thunarx-python/extensions/handoff_send.py
    usr/share/nemo/actions/dev.handoff1.Send.nemo_action usr/share/Thunar/sendto/dev.handoff1.Send.desktop
    usr/share/kio/servicemenus/dev.handoff1.Send.desktop usr/share/file-manager/actions/dev.handoff1.Send.desktop
    usr/share/gnome-shell/search-providers/dev.handoff1.Search.ini usr/share/krunner/dbusplugins/dev.handoff1.Search.desktop
    usr/share/handoff-settings/handoff_settings/widgets.py usr/share/handoff-settings/handoff_settings/window.py
""".split()
INSTALLED = [f"usr/share/locale/{language}/LC_MESSAGES/handoff.mo" for language in LANGUAGES] + """
    etc/handoff/documents.conf etc/handoff/handoffd.conf etc/ufw/applications.d/handoff
    usr/bin/handoffctl usr/bin/handoffd usr/bin/handoff-desktop usr/bin/handoff-try
    usr/lib/firewalld/services/handoff.xml
    usr/lib/systemd/system/handoffd@.service
    usr/lib/systemd/user/handoffd-autostart.service usr/lib/systemd/user/handoffd.service
    usr/lib/systemd/user/handoffd.service.d/50-sandbox.conf usr/lib/systemd/user/handoffd.socket
    usr/lib/systemd/user/handoff-desktop.service usr/lib/systemd/user/handoff-desktop.socket
    usr/lib/systemd/user/handoff-desktop.service.d/50-sandbox.conf usr/lib/systemd/user/handoff-deliver.service
    usr/lib/systemd/user/handoff-clipboard.service usr/lib/handoff/handoff-clipboard
    usr/share/icons/hicolor/symbolic/apps/dev.handoff1.Tray-symbolic.svg
    usr/share/icons/hicolor/symbolic/apps/dev.handoff1.Tray-offers-symbolic.svg
    usr/share/applications/handoffd.desktop usr/share/handoff/handlers.d/dev.handoff1.files.json
    usr/share/handoff/handlers.d/dev.handoff1.text.json usr/lib/handoff/handoff-text usr/lib/handoff/handoff_locale.py
    usr/share/handoff/handlers.d/dev.handoff1.terminal.json usr/lib/handoff/handoff-terminal usr/bin/handoff-terminal
    usr/share/handoff/terminal/handoff.bash usr/share/handoff/terminal/handoff.fish usr/share/handoff/terminal/handoff.zsh
    usr/share/handoff/handlers.d/dev.handoff1.editor.json usr/lib/handoff/handoff-editor usr/bin/handoff-editor
    usr/share/handoff/handlers.d/dev.handoff1.agent.json usr/lib/handoff/handoff-agents usr/bin/handoff-agents
    usr/share/handoff/handoff_desk.py usr/share/handoff/editors/handoff.lua usr/share/handoff/editors/handoff.vim
    usr/share/handoff/editors/handoff.el
    usr/share/handoff/editors/vscode/extension.js usr/share/handoff/editors/vscode/package.json
    usr/share/man/man1/handoff-editor.1 usr/share/man/man1/handoff-agents.1
    usr/share/handoff/handlers.d/dev.handoff1.git.json usr/lib/handoff/handoff-git usr/bin/handoff-git
    usr/share/handoff/handoff_git/__init__.py usr/share/handoff/handoff_git/apply.py usr/share/handoff/handoff_git/capture.py
    usr/share/handoff/handoff_git/placing.py usr/share/handoff/handoff_git/publishing.py
    usr/share/handoff/handoff_git/receive.py usr/share/handoff/handoff_git/repository.py
    usr/share/handoff/handoff_git/writing.py usr/share/man/man1/handoff-git.1
    usr/share/bash-completion/completions/handoffctl usr/share/fish/vendor_completions.d/handoffctl.fish
    usr/share/bash-completion/completions/handoff-agents usr/share/fish/vendor_completions.d/handoff-agents.fish
    usr/share/bash-completion/completions/handoff-editor usr/share/fish/vendor_completions.d/handoff-editor.fish
    usr/share/bash-completion/completions/handoff-git usr/share/fish/vendor_completions.d/handoff-git.fish
    usr/share/bash-completion/completions/handoff-terminal usr/share/fish/vendor_completions.d/handoff-terminal.fish
    usr/share/zsh/vendor-completions/_handoffctl usr/share/zsh/vendor-completions/_handoff-agents
    usr/share/zsh/vendor-completions/_handoff-editor usr/share/zsh/vendor-completions/_handoff-git
    usr/share/zsh/vendor-completions/_handoff-terminal usr/share/handoff/handoff_completion.py
    usr/share/man/man1/handoffctl.1 usr/share/man/man1/handoffd.1 usr/share/man/man1/handoff-desktop.1 usr/share/man/man1/handoff-terminal.1 usr/share/man/man1/handoff-try.1 usr/share/man/man5/handoffd.conf.5
    usr/share/man/man5/handoff-documents.conf.5 usr/share/man/man5/handoff-policy.conf.5
    usr/share/doc/handoff/examples/policy.conf
    usr/lib/handoff/handoff-browser usr/lib/python3/dist-packages/handoff.py usr/share/handoff/handoff.mjs
    usr/share/varlink/dev.handoff1.Control.varlink usr/share/varlink/dev.handoff1.Desktop.varlink usr/share/varlink/dev.handoff1.varlink
""".split()


def call(*words, code=0, **more):
    environment = {**os.environ, "HANDOFF_BIN": BIN, "LC_ALL": "C.UTF-8", "MANWIDTH": "100", **more.pop("environment", {})}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=300, **more)
    expect(code is None or done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is missing (scripts/setup --tests)")


def static(program):
    """Returns whether the Swift runtime is linked statically, as a package requires."""
    return "/swift/" not in call("readelf", "-d", program).stdout
