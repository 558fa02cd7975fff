/// The hosts that mean another machine on another network, or that are not on the Internet: a browser must not be sent to them
/// by another device, since a router, a printer or a program on this machine may act on the request.
///
/// The check is by spelling. A public name that resolves to a private address is not found.
enum LocalHost {
    /// Names that are looked up on the machine or in its network only (RFC 6761, RFC 6762, RFC 8375, and what ICANN has reserved),
    /// and the usual ones of routers.
    private static let suffixes = [
        "localhost", "local", "internal", "home.arpa", "lan", "localdomain", "intranet", "private", "corp", "home",
    ]
    /// What a browser reads as a dot in a host (UTS 46).
    private static let dots: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

    /// Whether a host is local: a name without a dot or below a reserved name, an address that is not public, a number that
    /// browsers read as an address, or a name in characters that could become such a host once they are normalised.
    ///
    /// - Parameter host: without the port; an IPv6 address in brackets.
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

    /// Whether browsers take a host with this last label for an IPv4 address: digits, or hexadecimal ones behind `0x`.
    private static func isNumber(_ label: String) -> Bool {
        let digits = label.hasPrefix("0x") ? label.dropFirst(2) : label[...]
        let areHexadecimal = digits.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || isHexLetter($0) }
        return label.hasPrefix("0x") ? areHexadecimal : digits.utf8.allSatisfy { !isHexLetter($0) } && areHexadecimal
    }

    private static func isHexLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte }

    /// A part of an IPv4 address in its usual spelling; nil for octal and hexadecimal ones, and for what is above 255.
    private static func byte(_ label: String) -> UInt8? {
        guard let byte = UInt8(label), String(byte) == label else { return nil }
        return byte
    }

    /// The addresses of IPv4 that are not public (RFC 6890). Any other spelling than four numbers counts as local.
    private static func isLocalIPv4(_ bytes: [UInt8?]) -> Bool {
        guard bytes.count == 4, let first = bytes[0], let second = bytes[1], bytes[2] != nil, bytes[3] != nil else {
            return true
        }
        switch (first, second) {
        case (0, _), (10, _), (127, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168): return true
        default: return first >= 224
        }
    }

    /// Only addresses that are assigned to the Internet (2000::/3) are public: loopback, link-local, unique local, IPv4-mapped and
    /// translated ones are below or above. 6to4 and Teredo addresses stand for one of IPv4.
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

    /// Whether a character outside ASCII may become another one, also one of ASCII, when a browser normalises the host (UTS 46).
    private static func changes(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII && scalar.properties.changesWhenNFKCCaseFolded && !kept.contains(scalar)
    }

    /// Letters that are folded, and not to one in ASCII that a reserved name has: ß, ς and the vowels AM of Thai and Lao.
    private static let kept: Set<Unicode.Scalar> = ["\u{DF}", "\u{3C2}", "\u{E33}", "\u{EB3}"]
}
