import HandoffHandlers
import HandoffTransfer
import LoopIO
import Timing

/// Collects facts about the machine. Blocks on disk reads, and on nft(8) if it can be run.
enum MachineProbe {
    /// The maximum number of bytes read from a file.
    private static let limit = 4 * 1024 * 1024
    /// The maximum number of firewalld zones that are read; usually there are about ten.
    private static let zoneLimit = 256

    /// Folders of system programs. `PATH` is not used because these programs run as root.
    private static let administratorPath = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"

    /// Returns all facts.
    static func facts() -> MachineFacts {
        var facts = MachineFacts()
        facts.avahiConfiguration = file("/etc/avahi/avahi-daemon.conf")
        facts.avahiRuns = file("/run/avahi-daemon/pid").exists
        readFirewalls(&facts)
        facts.liveRules = liveRules()
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

    private static func readFirewalls(_ facts: inout MachineFacts) {
        facts.ufw = file("/etc/ufw/ufw.conf")
        facts.ufwDefaults = file("/etc/default/ufw")
        facts.ufwRules = file("/etc/ufw/user.rules")
        facts.firewalldRuns = file("/run/firewalld.pid").exists
        facts.firewalld = file("/etc/firewalld/firewalld.conf")
        if let zone = FirewallText.firewalldDefaultZone(facts.firewalld.content ?? "") {
            let own = file("/etc/firewalld/zones/\(zone).xml")
            facts.firewalldZone = own.exists ? own : file("/usr/lib/firewalld/zones/\(zone).xml")
        }
        facts.firewalldZones = zones("/etc/firewalld/zones")
        // The rules are loaded at boot if the unit is enabled.
        let isLoaded = ["sysinit.target.wants", "multi-user.target.wants"].contains {
            file("/etc/systemd/system/\($0)/nftables.service").exists
        }
        facts.nftables = isLoaded ? file("/etc/nftables.conf") : .missing
        let saved = file("/etc/iptables/rules.v4")
        facts.iptables = saved.exists ? saved : file("/etc/sysconfig/iptables")
    }

    /// Returns the rules that the kernel applies now. Only the administrator can read them.
    private static func liveRules() -> LiveRules {
        let modules = ConfigurationText.lines(file("/proc/modules").content ?? "")
        // Without a list of modules, the filter may be built into the kernel.
        if !modules.isEmpty, !modules.contains(where: { $0.hasPrefix("nf_tables ") }) { return .none }
        guard MachineInfo.isAdministrator else { return .hidden("only the administrator can read them") }
        guard let program = ProgramSearch(path: administratorPath).find("nft") else {
            return .hidden("the program nft is not installed")
        }
        guard let rules = ShellCommand.output(of: "\(program) list ruleset", limit: limit) else {
            return .hidden("nft list ruleset failed")
        }
        return .text(String(decoding: rules, as: UTF8.self))
    }

    /// Returns the zones of a folder by name; nil if it cannot be read.
    private static func zones(_ folder: String) -> [String: FileFact]? {
        var zones: [String: FileFact] = [:]
        do throws(Errno) {
            for name in try FolderListing.names(in: folder, limit: zoneLimit) {
                let zone = String(name.dropLast(4))
                guard name.hasSuffix(".xml"), FirewallText.isZoneName(zone) else { continue }
                zones[zone] = file("\(folder)/\(name)")
            }
            return zones
        } catch .noSuchFile {
            return [:]
        } catch {
            return nil
        }
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
