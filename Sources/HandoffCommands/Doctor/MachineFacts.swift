import HandoffTransfer

/// The content of a file, or why it could not be read.
enum FileFact: Sendable, Equatable {
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

/// Facts about the machine, from world-readable files.
struct MachineFacts: Sendable {
    /// `/etc/avahi/avahi-daemon.conf`.
    var avahiConfiguration = FileFact.missing
    /// True if Avahi's daemon is running.
    var avahiRuns = false
    /// The active firewall, or the one whose rules are loaded at boot.
    var firewall: Firewall?
    /// `/proc/net/route`: the interfaces with IPv4 routes.
    var routes = FileFact.missing
    /// `/proc/net/if_inet6`: the interfaces with an IPv6 address.
    var addresses = FileFact.missing
    /// The MTU of interfaces in use, in bytes.
    var packetSizes: [String: Int] = [:]
    /// `/proc/net/tcp` and `/proc/net/tcp6`.
    var tcp: [FileFact] = []
    /// `/proc/net/udp` and `/proc/net/udp6`.
    var udp: [FileFact] = []
    /// True if the kernel's clock is synchronised; nil if unknown.
    var clockIsSynchronized: Bool?
    /// `/proc/sys/user/max_user_namespaces`.
    var namespaceLimit = FileFact.missing
    /// `/proc/sys/kernel/unprivileged_userns_clone`; not in all kernels.
    var namespaceClone = FileFact.missing
    /// `/proc/sys/kernel/apparmor_restrict_unprivileged_userns`; not in all kernels.
    var namespaceAppArmor = FileFact.missing
    /// True if the browser extension is installed.
    var hasBrowserExtension = false
    /// Browsers in which the extension works, by package name.
    var browsers: [String] = []
    /// Browsers in a sandbox that blocks their extensions from programs outside it, as `firefox
    /// (Snap)`.
    var sandboxedBrowsers: [String] = []
    /// Problems in `browser.conf` files, because of which no page is offered.
    var pageExclusionProblems: [String] = []

    /// Leftovers of interrupted transfers and of apps that were killed.
    var leftovers = Leftovers.Found()

    /// Creates facts about a machine of which nothing is known.
    init() {}
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
enum SocketTable {
    /// The states of receiving sockets: TCP_LISTEN, and TCP_CLOSE for UDP sockets without a peer.
    private static let receiving: Set<String> = ["0A", "07"]

    /// Returns whether a socket in any of the tables receives on a port; nil if no table can be
    /// read.
    static func listens(on port: UInt16, in tables: [FileFact]) -> Bool? {
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
