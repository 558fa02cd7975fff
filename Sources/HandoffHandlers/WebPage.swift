import HandoffModel

/// The address of a web page from another device, in the only form that may be passed to a browser.
package struct WebPage: Sendable, Equatable {
    /// The host in lower case without a final dot, for comparison with claims. Nil for IPv6
    /// addresses and for non-ASCII names. No claim matches those, because several spellings could
    /// denote one site.
    let host: String?
    /// The argument for a browser. It starts with `http`. Characters after the host that are
    /// invalid in URLs (RFC 3986) are percent-encoded, as are `$` and apostrophes.
    package let argument: String

    /// Nil unless `WebURL` accepts the address, and its host consists only of letters, digits, `-`,
    /// `_` and `.`, or is an IPv6 address. Beyond ASCII, only letters, their marks and decimal
    /// digits are accepted. When normalised, symbols and punctuation may become `/`, `?`, `#`, `@`
    /// or `:`, and change the host.
    package init?(_ url: String) {
        guard WebURL.isAcceptable(url) else { return nil }
        let bytes = Array(url.utf8)
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), bytes.count > slash + 2 else { return nil }
        let start = slash + 2
        let ends = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        let end = bytes[start...].firstIndex { ends.contains($0) } ?? bytes.endIndex
        let authority = bytes[start..<end]
        if authority.first == UInt8(ascii: "[") {
            host = nil
        } else {
            let name = authority.prefix { $0 != UInt8(ascii: ":") }
            guard let text = String(validating: name, as: UTF8.self), text.unicodeScalars.allSatisfy(Self.isHostScalar)
            else { return nil }
            host = DomainClaim.normalised(name)
        }
        var argument = Array(bytes[..<end])
        for byte in bytes[end...] {
            if Self.isURLByte(byte) {
                argument.append(byte)
            } else {
                argument += [UInt8(ascii: "%"), Self.digit(byte >> 4), Self.digit(byte & 15)]
            }
        }
        // All non-ASCII bytes are in the host, as whole characters.
        guard let text = String(validating: argument, as: UTF8.self) else { return nil }
        self.argument = text
    }

    static func isHostScalar(_ scalar: Unicode.Scalar) -> Bool {
        if let byte = UInt8(exactly: scalar.value), byte < 0x80 { return isHostByte(byte) }
        guard !scalar.properties.isDefaultIgnorableCodePoint else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber:
            return true
        default: return false
        }
    }

    static func isHostByte(_ byte: UInt8) -> Bool {
        AppID.isLetterOrDigit(byte) || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(byte)
    }

    /// The characters of RFC 3986 without `$` and the apostrophe, which service managers and shells
    /// interpret.
    private static let marks = Set("-._~:/?#[]@!&()*+,;=%".utf8)

    private static func isURLByte(_ byte: UInt8) -> Bool {
        AppID.isLetterOrDigit(byte) || marks.contains(byte)
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") - 10 + nibble
    }
}

/// A web site that an app claims: a host, or with the prefix `*.` all hosts below it but not the
/// host itself.
package struct DomainClaim: Hashable, Sendable, CustomStringConvertible {
    /// The host in lower case, without `*.` or a final dot.
    private let host: String
    /// True if the claim is for the hosts below.
    private let isBelow: Bool

    /// Parses a claim.
    ///
    /// - Returns: Nil unless the text is an ASCII host name (with `xn--` for other letters) of at
    ///   most 253 characters. Names below a single label such as `com` cannot be claimed. Numbers
    ///   are addresses, not names.
    init?(_ text: String) {
        isBelow = text.utf8.starts(with: "*.".utf8)
        guard let host = Self.normalised(text.utf8.dropFirst(isBelow ? 2 : 0)), Self.isName(host) else { return nil }
        guard !isBelow || host.utf8.contains(UInt8(ascii: ".")) else { return nil }
        self.host = host
    }

    /// The claim as written in a file.
    package var description: String { (isBelow ? "*." : "") + host }

    /// True if the claim covers a host in the form of `WebPage.host`.
    func covers(_ host: String) -> Bool {
        guard isBelow else { return host == self.host }
        let suffix = "." + self.host
        return host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
    }

    /// Returns a host in lower case without its final dot; nil if it is empty or not ASCII.
    static func normalised(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
        var lowered = bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        if lowered.last == UInt8(ascii: ".") { lowered.removeLast() }
        guard !lowered.isEmpty, lowered.allSatisfy({ $0 < 0x80 }) else { return nil }
        return String(validating: lowered, as: UTF8.self)
    }

    private static func isName(_ host: String) -> Bool {
        guard host.utf8.count <= 253 else { return false }
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                && label.allSatisfy { WebPage.isHostByte($0) && $0 != UInt8(ascii: ".") }
        }
        guard areLabels, let last = labels.last else { return false }
        return !last.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
