/// Hosts that refer to a different machine on another network, or that are not on the Internet. A
/// browser must not be sent to one by another device, because a router, a printer or a local
/// program may act on the request.
///
/// The check uses the spelling only. It does not detect a public name that resolves to a private
/// address.
enum LocalHost {
    /// Names that are resolved only on the machine or in its network (RFC 6761, RFC 6762, RFC 8375,
    /// and ICANN reservations), and common router names.
    private static let suffixes = [
        "localhost", "local", "internal", "home.arpa", "lan", "localdomain", "intranet", "private", "corp", "home",
    ]
    /// The characters that browsers treat as a dot in a host (UTS 46).
    private static let dots: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

    /// Returns whether a host is local: a name without a dot or below a reserved name, a non-public
    /// address, a number that browsers parse as an address, or a name whose characters could
    /// normalise to such a host.
    ///
    /// - Parameter host: The host without the port; an IPv6 address in brackets.
    static func contains(_ host: Substring) -> Bool {
        if host.hasPrefix("[") { return isLocalIPv6(host.dropFirst().prefix { $0 != "]" }) }
        var labels = host.unicodeScalars.split(omittingEmptySubsequences: false) { dots.contains($0) }
            .map { String($0).lowercased() }
        if labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.count > 1, let last = labels.last, labels.allSatisfy({ !$0.isEmpty }) else { return true }
        if isNumber(last) { return isLocalIPv4(labels.map(byte)) }
        let name = labels.joined(separator: ".")
        return last.unicodeScalars.contains(where: changes) || suffixes.contains { name.hasSuffix("." + $0) }
    }

    /// Returns whether browsers parse a host with this last label as an IPv4 address: digits, or
    /// `0x` followed by hexadecimal digits.
    private static func isNumber(_ label: String) -> Bool {
        let digits = label.hasPrefix("0x") ? label.dropFirst(2) : label[...]
        let areHexadecimal = digits.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || isHexLetter($0) }
        return label.hasPrefix("0x") ? areHexadecimal : digits.utf8.allSatisfy { !isHexLetter($0) } && areHexadecimal
    }

    private static func isHexLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte }

    /// Returns one part of an IPv4 address in decimal, or nil for an octal or hexadecimal number or
    /// one above 255.
    private static func byte(_ label: String) -> UInt8? {
        guard let byte = UInt8(label), String(byte) == label else { return nil }
        return byte
    }

    /// Returns whether an IPv4 address is not public (RFC 6890). Anything but four decimal numbers
    /// counts as local.
    private static func isLocalIPv4(_ bytes: [UInt8?]) -> Bool {
        guard bytes.count == 4, let first = bytes[0], let second = bytes[1], bytes[2] != nil, bytes[3] != nil else {
            return true
        }
        switch (first, second) {
        case (0, _), (10, _), (127, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168): return true
        default: return first >= 224
        }
    }

    /// Returns whether an IPv6 address is local. Only the range assigned to the Internet (2000::/3)
    /// is public: loopback, link-local, unique local, IPv4-mapped and translated addresses are
    /// outside it. 6to4 and Teredo addresses embed an IPv4 address.
    private static func isLocalIPv6(_ address: Substring) -> Bool {
        let groups = address.split(separator: ":", omittingEmptySubsequences: false).prefix(3)
            .map { UInt16($0, radix: 16) }
        guard let first = groups.first ?? nil, (0x2000...0x3FFF).contains(first) else { return true }
        // An omitted group is zero.
        let second = groups.count > 1 ? groups[1] ?? 0 : 0
        if first == 0x2002 {
            return isLocalIPv4([UInt8(second >> 8), UInt8(second & 0xFF), 0, 0])
        }
        return first == 0x2001 && second == 0
    }

    /// Returns whether a non-ASCII character may become another character, possibly an ASCII one,
    /// when a browser normalises the host (UTS 46).
    private static func changes(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII && scalar.properties.changesWhenNFKCCaseFolded && !kept.contains(scalar)
    }

    /// Letters that are folded, but not to an ASCII letter of a reserved name: ß, ς and the vowels
    /// AM of Thai and Lao.
    private static let kept: Set<Unicode.Scalar> = ["\u{DF}", "\u{3C2}", "\u{E33}", "\u{EB3}"]
}
