import HandoffHandlers
import HandoffModel

/// Which pages are offered. The extension keeps private windows to itself before that; here is all else.
package struct PageRules: Sendable, Equatable {
    /// Pages that the user or the administrator has excluded.
    package var exclusions: PageExclusions

    package init(exclusions: PageExclusions = PageExclusions()) {
        self.exclusions = exclusions
    }

    /// Whether a page may be offered: an address that another device can open as it is, that means the same there, and that
    /// nobody has excluded.
    package func allows(_ page: FrontPage) -> Bool {
        guard let address = WebPage(page.url), !Self.isLocal(page.url) else { return false }
        return !exclusions.exclude(page.url, host: address.host, container: page.container)
    }

    /// Names that mean another machine wherever they are looked up (RFC 6761, RFC 6762, RFC 8375, and what ICANN has set aside).
    private static let localSuffixes = [".localhost", ".local", ".internal", ".home.arpa", ".lan", ".localdomain"]

    /// Whether the host of an acceptable address is this machine or one of its network: a name without a dot, a name that is
    /// set aside for that, an address that is not public.
    static func isLocal(_ url: String) -> Bool {
        let authority = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix {
            ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0)
        }
        if authority.first == UInt8(ascii: "[") {
            // Only what is assigned to the Internet (2000::/3): loopback, link-local and unique local ones are below or above it.
            let first = authority.dropFirst().prefix { $0 != UInt8(ascii: ":") }
            guard let group = UInt16(String(Substring(first)), radix: 16) else { return true }
            return !(0x2000...0x3FFF).contains(group)
        }
        var host = Substring(authority.prefix { $0 != UInt8(ascii: ":") }).lowercased()
        if host.hasSuffix(".") { host.removeLast() }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1 else { return true }
        if let last = labels.last, last.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return isLocal(labels.map { UInt8($0) })
        }
        return localSuffixes.contains { host.hasSuffix($0) }
    }

    /// The addresses of IPv4 that are not public (RFC 6890). What is written in another way than with four numbers counts as one.
    private static func isLocal(_ bytes: [UInt8?]) -> Bool {
        guard bytes.count == 4, let first = bytes[0], let second = bytes[1] else { return true }
        switch (first, second) {
        case (0, _), (10, _), (127, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168): return true
        default: return first >= 224
        }
    }
}
