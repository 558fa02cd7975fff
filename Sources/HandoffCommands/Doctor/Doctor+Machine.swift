import HandoffControl
import HandoffModel
import HandoffTransfer

/// What of this machine and of the daemon's process may stop it.
extension Doctor {
    /// The fewest files that the daemon should be allowed to have open: each stream takes some.
    static let fewestFiles = 1024
    /// The least memory that it should be allowed to keep out of swap, in bytes: the keys of an account.
    static let leastLockedMemory = 64 * 1024

    static func clock(_ facts: DoctorFacts) -> DoctorCheck {
        let remedy = "sudo timedatectl set-ntp true"
        let ahead = facts.diagnosis?.members.first { $0.clockAhead != nil }
        if let ahead, let seconds = ahead.clockAhead {
            // More than a clock can have is said as the most that a number has.
            let whole = Int64(exactly: seconds.rounded(.down)) ?? .max
            return DoctorCheck(
                "clock", .warning,
                "\(ahead.name) (\(ahead.device.short)) was started by a clock that is \(whole) s or more ahead of "
                    + "this one: one of the two is wrong, or was",
                remedy: "\(remedy) (on both)")
        }
        switch facts.machine.clockIsSynchronized {
        case true?: return DoctorCheck("clock", .ok, "the clock is kept right by the network")
        case false?:
            return DoctorCheck(
                "clock", .warning, "nothing keeps the clock right: pauses end at another time than you chose",
                remedy: remedy)
        case nil:
            return DoctorCheck(
                "clock", .warning, "cannot tell whether the clock is kept right",
                remedy: "see with: timedatectl status")
        }
    }

    static func sandbox(_ facts: DoctorFacts) -> DoctorCheck {
        if facts.diagnosis?.isIsolated == true {
            return DoctorCheck("sandbox", .ok, "the daemon runs in a user namespace of its own")
        }
        let machine = facts.machine
        let obstacles: [(isThere: Bool, setting: String, better: String)] = [
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
        guard let obstacle = obstacles.first(where: \.isThere) else {
            return DoctorCheck("sandbox", .ok, "users may make the namespaces that the daemon's unit asks for")
        }
        let message = "this machine keeps users from making namespaces (\(obstacle.setting)): "
        guard facts.status == nil else {
            return DoctorCheck(
                "sandbox", .warning, message + "the daemon runs without the second layer of its sandbox",
                remedy: "if it is to have it: sudo sysctl -w \(obstacle.better)")
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
        if let files = diagnosis.openFiles, files < fewestFiles {
            checks.append(
                DoctorCheck(
                    "files", .warning, "the daemon may have \(files) files open: streams and devices may find no room",
                    remedy: "set LimitNOFILE=16384 with: systemctl --user edit handoffd; without systemd: "
                        + "ulimit -n 16384 before it is started"))
        } else {
            checks.append(DoctorCheck("files", .ok, "the daemon may have enough files open"))
        }
        if let memory = diagnosis.lockedMemory, memory < leastLockedMemory {
            checks.append(
                DoctorCheck(
                    "memory", .warning,
                    "the daemon may keep \(memory) bytes out of swap: keys may come to the disk",
                    remedy: "raise the limit of the user: sudo systemctl edit user@.service, LimitMEMLOCK=8M; without "
                        + "systemd: ulimit -l 8192 before it is started"))
        }
        return checks
    }

    /// Whether a browser is there that the extension reaches us from; nothing where nobody has installed it.
    static func browsers(_ machine: MachineFacts) -> DoctorCheck? {
        guard machine.hasBrowserExtension else { return nil }
        guard machine.browsers.isEmpty else {
            return DoctorCheck("browsers", .ok, "the extension works in \(machine.browsers.joined(separator: ", "))")
        }
        guard !machine.sandboxedBrowsers.isEmpty else {
            return DoctorCheck(
                "browsers", .warning, "the extension is installed, and no browser that it works in",
                remedy: "sudo apt-get install firefox-esr, or: sudo apt-get install chromium")
        }
        let portal =
            machine.sandboxedBrowsers.contains("firefox (Snap)")
            ? "where the system has Ubuntu's portal for it: "
                + "flatpak permission-set webextensions dev.handoff1.browser snap.firefox yes; otherwise " : ""
        return DoctorCheck(
            "browsers", .warning,
            "the only browsers are in a sandbox that keeps their extensions from handoffd: "
                + machine.sandboxedBrowsers.joined(separator: ", "),
            remedy: portal + "install a browser as a package of the system: sudo apt-get install firefox-esr")
    }

    /// What keeps all web pages from being offered.
    static func pageExclusions(_ machine: MachineFacts) -> [DoctorCheck] {
        machine.pageExclusionProblems.map {
            DoctorCheck(
                "browsers", .problem, "no web page is offered: \($0)",
                remedy: "correct or delete the line, or the file: it is read again immediately")
        }
    }

    /// Hidden parts of transfers and documents of apps that have ended; nil when there are none.
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

    /// A path as a shell takes it, whatever is in it.
    private static func quoted(_ path: String) -> String {
        "'" + path.replacing("'", with: "'\\''") + "'"
    }

    static func stateFolder(_ diagnosis: ControlDiagnosis?) -> DoctorCheck? {
        guard let diagnosis else { return nil }
        let path = diagnosis.stateFolder
        guard let mode = diagnosis.stateMode else {
            return DoctorCheck(
                "state", .problem, "the state folder \(path) cannot be looked at any more",
                remedy: "see whether its disk is mounted and whole: ls -ld \(quoted(path))")
        }
        guard mode & 0o077 == 0 else {
            return DoctorCheck(
                "state", .problem,
                "others may enter the state folder \(path) (mode \(String(mode, radix: 8))); the daemon will not "
                    + "start again",
                remedy: "chmod 700 \(quoted(path))")
        }
        return DoctorCheck("state", .ok, "the state folder \(path) is this user's alone")
    }
}
