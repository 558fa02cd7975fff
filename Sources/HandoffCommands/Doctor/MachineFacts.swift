package import HandoffTransfer

/// The content of a file, or why it could not be read.
package enum FileFact: Sendable, Equatable {
    /// The file does not exist.
    case missing
    /// The file exists but cannot be read.
    case unreadable
    /// The content.
    case text(String)

    /// The content; nil if there is none.
    var content: String? { if case .text(let text) = self { text } else { nil } }

    /// True if the file exists.
    var exists: Bool { self != .missing }

    /// The content of a one-line file, without surrounding whitespace.
    var word: String? { content.map(ConfigurationText.trimmed) }
}

/// The packet filter in the kernel.
package enum LiveRules: Sendable, Equatable {
    /// The kernel has no rules.
    case none
    /// The kernel may have rules, which were not read; the reason.
    case hidden(String)
    /// The rules as printed by `nft list ruleset`.
    case text(String)
}

/// Facts about the machine, from world-readable files and those that only the administrator can
/// read.
package struct MachineFacts: Sendable {
    /// `/etc/avahi/avahi-daemon.conf`.
    package var avahiConfiguration = FileFact.missing
    /// True if Avahi's daemon is running.
    package var avahiRuns = false
    /// `/etc/ufw/ufw.conf`.
    package var ufw = FileFact.missing
    /// `/etc/default/ufw`.
    package var ufwDefaults = FileFact.missing
    /// `/etc/ufw/user.rules`.
    package var ufwRules = FileFact.missing
    /// True if firewalld is running.
    package var firewalldRuns = false
    /// `/etc/firewalld/firewalld.conf`.
    package var firewalld = FileFact.missing
    /// The file of firewalld's default zone: the administrator's, or the packaged one.
    package var firewalldZone = FileFact.missing
    /// `/etc/firewalld/zones/*.xml` by zone name. The zones may be bound to interfaces. Nil if the
    /// folder cannot be read.
    package var firewalldZones: [String: FileFact]? = [:]
    /// `/proc/net/route`: the interfaces with IPv4 routes.
    package var routes = FileFact.missing
    /// `/proc/net/if_inet6`: the interfaces with an IPv6 address.
    package var addresses = FileFact.missing
    /// `/etc/nftables.conf`, if it is loaded at boot.
    package var nftables = FileFact.missing
    /// Saved rules for iptables-restore(8): `/etc/iptables/rules.v4` or `/etc/sysconfig/iptables`.
    package var iptables = FileFact.missing
    /// The nftables rules that the kernel applies now, including those of iptables-nft(8).
    package var liveRules = LiveRules.none
    /// The MTU of interfaces in use, in bytes.
    package var packetSizes: [String: Int] = [:]
    /// `/proc/net/tcp` and `/proc/net/tcp6`.
    package var tcp: [FileFact] = []
    /// `/proc/net/udp` and `/proc/net/udp6`.
    package var udp: [FileFact] = []
    /// True if the kernel's clock is synchronized; nil if unknown.
    package var clockIsSynchronized: Bool?
    /// `/proc/sys/user/max_user_namespaces`.
    package var namespaceLimit = FileFact.missing
    /// `/proc/sys/kernel/unprivileged_userns_clone`; not in all kernels.
    package var namespaceClone = FileFact.missing
    /// `/proc/sys/kernel/apparmor_restrict_unprivileged_userns`; not in all kernels.
    package var namespaceAppArmor = FileFact.missing
    /// True if the browser extension is installed.
    package var hasBrowserExtension = false
    /// Browsers in which the extension works, by package name.
    package var browsers: [String] = []
    /// Browsers in a sandbox that blocks their extensions from programs outside it, as `firefox
    /// (Snap)`.
    package var sandboxedBrowsers: [String] = []
    /// Problems in `browser.conf` files, because of which no page is offered.
    package var pageExclusionProblems: [String] = []

    /// Leftovers of interrupted transfers and of apps that were killed.
    package var leftovers = Leftovers.Found()

    /// Creates facts about a machine of which nothing is known.
    package init() {}
}

/// The network interfaces of the machine, from the kernel's tables (proc(5)).
enum MachineInterfaces {
    /// Returns the interfaces with a route or an address, except the loopback interface; nil if no
    /// table can be read or no interface is in use.
    static func inUse(_ machine: MachineFacts) -> Set<String>? {
        // The first line contains the column names.
        let routes = lines(machine.routes).dropFirst().compactMap { words($0).first }
        let addresses = lines(machine.addresses).compactMap { words($0).last }
        let names = Set(routes + addresses).subtracting(["lo"])
        return names.isEmpty ? nil : names
    }

    private static func lines(_ table: FileFact) -> [String] { ConfigurationText.lines(table.content ?? "") }

    private static func words(_ line: String) -> [String] {
        line.split(whereSeparator: \.isWhitespace).map(String.init)
    }
}

/// Parses `/proc/net/tcp` and similar tables (proc_pid_net(5)).
package enum SocketTable {
    /// The states of receiving sockets: TCP_LISTEN, and TCP_CLOSE for UDP sockets without a peer.
    private static let receiving: Set<String> = ["0A", "07"]

    /// Returns whether a socket in any of the tables receives on a port; nil if no table can be
    /// read.
    package static func listens(on port: UInt16, in tables: [FileFact]) -> Bool? {
        let texts = tables.compactMap(\.content)
        guard !texts.isEmpty else { return nil }
        return texts.contains { text in
            text.split(separator: "\n").dropFirst().contains { line in
                //   sl  local_address rem_address   st ...
                let words = line.split(separator: " ")
                guard words.count > 3, receiving.contains(String(words[3])) else { return false }
                return words[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) } == port
            }
        }
    }
}
