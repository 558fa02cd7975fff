import HandoffControl
import HandoffModel
import HandoffTransfer

/// Checks of this machine and of the daemon's process.
extension Doctor {
    /// The minimum limit of open files for the daemon; each stream uses some.
    static let minOpenFiles = 1024
    /// The minimum limit of locked memory for the daemon, in bytes, for the keys of an account.
    static let minLockedMemory = 64 * 1024

    static func clock(_ facts: DoctorFacts) -> DoctorCheck {
        let remedy = "sudo timedatectl set-ntp true"
        let ahead = facts.diagnosis?.members.first { $0.clockAhead != nil }
        if let ahead, let seconds = ahead.clockAhead {
            // Saturate times that do not fit.
            let whole = Int64(exactly: seconds.rounded(.down)) ?? .max
            return DoctorCheck(
                "clock", .warning,
                "the clock of \(DeviceText.label(ahead.name, ahead.device)) was \(whole) s or more ahead of this one when "
                    + "it started: one of the two is or was wrong",
                remedy: "\(remedy) (on both)")
        }
        switch facts.machine.clockIsSynchronized {
        case true?: return DoctorCheck("clock", .ok, "the clock is synchronised")
        case false?:
            return DoctorCheck(
                "clock", .warning, "the clock is not synchronised: pauses may end at the wrong time",
                remedy: remedy)
        case nil:
            return DoctorCheck(
                "clock", .warning, "cannot determine whether the clock is synchronised",
                remedy: "check with: timedatectl status")
        }
    }

    static func sandbox(_ facts: DoctorFacts) -> DoctorCheck {
        if facts.diagnosis?.isIsolated == true {
            return DoctorCheck("sandbox", .ok, "the daemon runs in its own user namespace")
        }
        let machine = facts.machine
        let obstacles: [(isPresent: Bool, setting: String, better: String)] = [
            (machine.namespaceLimit.word == "0", "user.max_user_namespaces=0", "user.max_user_namespaces=15000"),
            (
                machine.namespaceClone.word == "0", "kernel.unprivileged_userns_clone=0",
                "kernel.unprivileged_userns_clone=1"
            ),
            (
                machine.namespaceAppArmor.word == "1", "kernel.apparmor_restrict_unprivileged_userns=1",
                "kernel.apparmor_restrict_unprivileged_userns=0"
            ),
        ]
        guard let obstacle = obstacles.first(where: \.isPresent) else {
            return DoctorCheck("sandbox", .ok, "users can create the namespaces that the daemon's unit requires")
        }
        let message = "this machine does not let users create namespaces (\(obstacle.setting)): "
        guard facts.status == nil else {
            return DoctorCheck(
                "sandbox", .warning, message + "the daemon runs without the second layer of its sandbox",
                remedy: "to enable it: sudo sysctl -w \(obstacle.better)")
        }
        return DoctorCheck(
            "sandbox", .problem, message + "the daemon's unit does not start with the second layer of its sandbox",
            remedy: "for unit in handoffd handoff-desktop; do mkdir -p ~/.config/systemd/user/$unit.service.d && "
                + "ln -s /dev/null ~/.config/systemd/user/$unit.service.d/50-sandbox.conf; done; "
                + "systemctl --user daemon-reload && systemctl --user restart handoffd")
    }

    static func limits(_ diagnosis: ControlDiagnosis?) -> [DoctorCheck] {
        guard let diagnosis else { return [] }
        var checks: [DoctorCheck] = []
        if let files = diagnosis.openFiles, files < minOpenFiles {
            checks.append(
                DoctorCheck(
                    "files", .warning, "the daemon can open only \(files) files, which may be too few for its streams",
                    remedy: "set LimitNOFILE=16384 with: systemctl --user edit handoffd; without systemd, run "
                        + "ulimit -n 16384 before starting it"))
        } else {
            checks.append(DoctorCheck("files", .ok, "the daemon can open enough files"))
        }
        if let memory = diagnosis.lockedMemory, memory < minLockedMemory {
            checks.append(
                DoctorCheck(
                    "memory", .warning,
                    "the daemon can lock only \(memory) bytes of memory: keys may be swapped to disk",
                    remedy: "raise the user's limit: sudo systemctl edit user@.service, LimitMEMLOCK=8M; without "
                        + "systemd, run ulimit -l 8192 before starting it"))
        }
        return checks
    }

    /// Checks for a browser in which the extension works; nil if the extension is not installed.
    static func browsers(_ machine: MachineFacts) -> DoctorCheck? {
        guard machine.hasBrowserExtension else { return nil }
        guard machine.browsers.isEmpty else {
            return DoctorCheck("browsers", .ok, "the extension works in \(machine.browsers.joined(separator: ", "))")
        }
        guard !machine.sandboxedBrowsers.isEmpty else {
            return DoctorCheck(
                "browsers", .warning, "the extension is installed, but no browser that it works in",
                remedy: "sudo apt-get install firefox-esr, or: sudo apt-get install chromium")
        }
        let portal =
            machine.sandboxedBrowsers.contains("firefox (Snap)")
            ? "if the system has Ubuntu's portal for it: "
                + "flatpak permission-set webextensions dev.handoff1.browser snap.firefox yes; otherwise " : ""
        return DoctorCheck(
            "browsers", .warning,
            "all browsers are in a sandbox that blocks their extensions from handoffd: "
                + machine.sandboxedBrowsers.joined(separator: ", "),
            remedy: portal + "install a browser as a system package: sudo apt-get install firefox-esr")
    }

    /// Reports problems that prevent all web pages from being offered.
    static func pageExclusions(_ machine: MachineFacts) -> [DoctorCheck] {
        machine.pageExclusionProblems.map {
            DoctorCheck(
                "browsers", .problem, "no web page is offered: \($0)",
                remedy: "correct or delete the line, or the file: it is read again immediately")
        }
    }

    /// Reports partial transfers and documents of apps that have ended; nil if there are none.
    static func leftovers(_ found: Leftovers.Found) -> DoctorCheck? {
        guard found.parts > 0 || found.documents > 0 else { return nil }
        var messages: [String] = []
        if found.parts > 0 {
            let parts = found.parts == 1 ? "1 interrupted transfer is" : "\(found.parts) interrupted transfers are"
            let folders = found.folders.joined(separator: ", ")
            messages.append("\(parts) kept hidden in \(folders), \(ByteText.text(found.bytes))")
        }
        if found.documents > 0 {
            let apps = found.documents == 1 ? "1 app that ended" : "\(found.documents) apps that ended"
            messages.append("documents of \(apps) are in the cache")
        }
        let days = Leftovers.maxAge / 86_400
        let patterns = found.folders.map { quoted($0) + "/.*.handoff-part" }
        return DoctorCheck(
            "parts", .ok,
            "\(messages.joined(separator: "; ")): the next transfer deletes documents, and parts after \(days) days",
            remedy: patterns.isEmpty ? nil : "to delete parts now: rm -r \(patterns.joined(separator: " "))")
    }

    /// Quotes a path for a shell.
    private static func quoted(_ path: String) -> String {
        "'" + path.replacing("'", with: "'\\''") + "'"
    }

    static func stateFolder(_ diagnosis: ControlDiagnosis?) -> DoctorCheck? {
        guard let diagnosis else { return nil }
        let path = diagnosis.stateFolder
        guard let mode = diagnosis.stateMode else {
            return DoctorCheck(
                "state", .problem, "cannot access the state folder \(path)",
                remedy: "check that its disk is mounted and works: ls -ld \(quoted(path))")
        }
        guard mode & 0o077 == 0 else {
            return DoctorCheck(
                "state", .problem,
                "other users can access the state folder \(path) (mode \(String(mode, radix: 8))): the daemon will not "
                    + "start again",
                remedy: "chmod 700 \(quoted(path))")
        }
        return DoctorCheck("state", .ok, "only this user can access the state folder \(path)")
    }
}
