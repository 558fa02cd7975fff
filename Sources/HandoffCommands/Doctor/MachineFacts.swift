package import HandoffTransfer

/// What a file said, or why it could not be read.
package enum FileFact: Sendable, Equatable {
    /// There is no such file.
    case missing
    /// It may not be read, or something else is wrong with it.
    case unreadable
    /// Its text.
    case text(String)

    /// The text; nil when there is none to read.
    var content: String? { if case .text(let text) = self { text } else { nil } }

    /// Whether there is a file.
    var exists: Bool { self != .missing }

    /// The text of a file of one line, without what is blank around it.
    var word: String? { content.map(ConfigurationText.trimmed) }
}

/// What the machine says of itself, in files that everybody may read, or nobody but the administrator.
package struct MachineFacts: Sendable {
    /// `/etc/avahi/avahi-daemon.conf`.
    package var avahiConfiguration = FileFact.missing
    /// Whether Avahi's daemon runs.
    package var avahiRuns = false
    /// `/etc/ufw/ufw.conf`.
    package var ufw = FileFact.missing
    /// `/etc/default/ufw`.
    package var ufwDefaults = FileFact.missing
    /// `/etc/ufw/user.rules`.
    package var ufwRules = FileFact.missing
    /// Whether firewalld runs.
    package var firewalldRuns = false
    /// `/etc/firewalld/firewalld.conf`.
    package var firewalld = FileFact.missing
    /// The file of firewalld's default zone, the administrator's or the one that came with it.
    package var firewalldZone = FileFact.missing
    /// `/etc/firewalld/zones/*.xml` by the names of the zones, which may be bound to interfaces; nil when the folder cannot be
    /// read.
    package var firewalldZones: [String: FileFact]? = [:]
    /// `/proc/net/route`: the interfaces that IPv4 goes out by.
    package var routes = FileFact.missing
    /// `/proc/net/if_inet6`: the interfaces that have an IPv6 address.
    package var addresses = FileFact.missing
    /// `/etc/nftables.conf`, when it is loaded at the start of the machine.
    package var nftables = FileFact.missing
    /// Rules that were saved for iptables-restore(8): `/etc/iptables/rules.v4` or `/etc/sysconfig/iptables`.
    package var iptables = FileFact.missing
    /// `/proc/net/tcp` and `/proc/net/tcp6`.
    package var tcp: [FileFact] = []
    /// `/proc/net/udp` and `/proc/net/udp6`.
    package var udp: [FileFact] = []
    /// Whether the kernel knows that the clock is right; nil when it does not say.
    package var clockIsSynchronized: Bool?
    /// `/proc/sys/user/max_user_namespaces`.
    package var namespaceLimit = FileFact.missing
    /// `/proc/sys/kernel/unprivileged_userns_clone`, which some kernels have.
    package var namespaceClone = FileFact.missing
    /// `/proc/sys/kernel/apparmor_restrict_unprivileged_userns`, which some kernels have.
    package var namespaceAppArmor = FileFact.missing
    /// Whether the extension for browsers is installed.
    package var hasBrowserExtension = false
    /// Browsers that it works in, by their packages.
    package var browsers: [String] = []
    /// Browsers in a sandbox that keeps their extensions from programs outside, as `firefox (Snap)`.
    package var sandboxedBrowsers: [String] = []
    /// Why no page is offered: the problems of the files `browser.conf`.
    package var pageExclusionProblems: [String] = []

    /// Leftovers of interrupted transfers and of apps that were killed.
    package var leftovers = Leftovers.Found()

    /// A machine of which nothing is known.
    package init() {}
}

/// The network interfaces of the machine, as the kernel's tables show them (proc(5)).
enum MachineInterfaces {
    /// The interfaces that have a route or an address, but for the one inside the machine; nil when no table can be read, or none
    /// is in use.
    static func inUse(_ machine: MachineFacts) -> Set<String>? {
        // The first line has the names of the columns.
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

/// Reads `/proc/net/tcp` and its like (proc_pid_net(5)).
package enum SocketTable {
    /// The states of sockets that take what comes: TCP_LISTEN, and TCP_CLOSE for UDP sockets without a peer.
    private static let receiving: Set<String> = ["0A", "07"]

    /// Whether a socket receives on a port, in any of the tables; nil when none can be read.
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
