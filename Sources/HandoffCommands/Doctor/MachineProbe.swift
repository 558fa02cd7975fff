import HandoffHandlers
import HandoffModel
import HandoffTransfer
import LoopIO

/// Collects facts about the machine. Blocks on disk reads.
enum MachineProbe {
    /// The maximum number of bytes read from a file.
    private static let limit = 4 * 1024 * 1024

    /// Returns all facts.
    static func facts() -> MachineFacts {
        var facts = MachineFacts()
        facts.avahiConfiguration = file("/etc/avahi/avahi-daemon.conf")
        facts.avahiRuns = file("/run/avahi-daemon/pid").exists
        facts.firewall = firewall()
        facts.routes = file("/proc/net/route")
        facts.addresses = file("/proc/net/if_inet6")
        for name in MachineInterfaces.inUse(facts) ?? [] {
            facts.packetSizes[name] = MachineInfo.packetSize(ofInterface: name)
        }
        facts.tcp = [file("/proc/net/tcp"), file("/proc/net/tcp6")]
        facts.udp = [file("/proc/net/udp"), file("/proc/net/udp6")]
        facts.clockIsSynchronized = MachineInfo.clockIsSynchronized
        facts.namespaceLimit = file("/proc/sys/user/max_user_namespaces")
        facts.namespaceClone = file("/proc/sys/kernel/unprivileged_userns_clone")
        facts.namespaceAppArmor = file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
        readBrowsers(&facts)
        facts.leftovers = Leftovers()?.find(now: Int64(clamping: SystemWallClock().unixSeconds)) ?? facts.leftovers
        return facts
    }

    private static func readBrowsers(_ facts: inout MachineFacts) {
        facts.hasBrowserExtension = file("/usr/share/webext/handoff/manifest.json").exists
        // Check the programs themselves: a file in /usr/bin may be a script that starts a sandboxed
        // browser.
        facts.browsers = ["chromium", "firefox-esr", "firefox"].filter { file("/usr/lib/\($0)/\($0)").exists }
        for folder in ["/snap/bin", "/var/lib/snapd/snap/bin"] {
            for name in ["firefox", "chromium"] where file("\(folder)/\(name)").exists {
                facts.sandboxedBrowsers.append("\(name) (Snap)")
            }
        }
        facts.pageExclusionProblems = pageExclusionProblems()
        let home = ProcessEnvironment.value("HOME").map { [$0 + "/.local/share"] } ?? []
        for folder in ["/var/lib"] + home {
            for (id, name) in [("org.mozilla.firefox", "firefox"), ("org.chromium.Chromium", "chromium")]
            where FolderListing.isFolder("\(folder)/flatpak/app/\(id)") {
                facts.sandboxedBrowsers.append("\(name) (Flatpak)")
            }
        }
    }

    private static func pageExclusionProblems() -> [String] {
        func folder(_ name: String) -> String? {
            ProcessEnvironment.value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let paths = PageExclusions.paths(
            configuration: folder("XDG_CONFIG_HOME") ?? folder("HOME").map { $0 + "/.config" })
        let exclusions = PageExclusions(paths) { try PlainFile.readOptional($0, limit: PageExclusions.maxFile)?.bytes }
        return exclusions.problems.map(\.description)
    }

    private static func firewall() -> Firewall? {
        let ufw = ConfigurationText.lines(file("/etc/ufw/ufw.conf").content ?? "")
        if ufw.contains(where: { $0.lowercased() == "enabled=yes" }) { return .ufw }
        if file("/run/firewalld.pid").exists { return .firewalld }
        // The rules are loaded at boot if the unit is enabled.
        let targets = ["sysinit.target.wants", "multi-user.target.wants"]
        if targets.contains(where: { file("/etc/systemd/system/\($0)/nftables.service").exists }) { return .nftables }
        let saved = ["/etc/iptables/rules.v4", "/etc/sysconfig/iptables"]
        return saved.contains { file($0).exists } ? .iptables : nil
    }

    private static func file(_ path: String) -> FileFact {
        do throws(Errno) {
            return .text(String(decoding: try LocalFile.read(path, limit: limit).bytes, as: UTF8.self))
        } catch .noSuchFile {
            return .missing
        } catch {
            return .unreadable
        }
    }
}
