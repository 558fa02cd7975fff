import HandoffModel

/// The address of a web page from another device, in the one form in which it may be handed to a browser.
package struct WebPage: Sendable, Equatable {
    /// The host in lower case without a final dot, which claims are held against; nil for IPv6 addresses, and for names that
    /// are not written in ASCII: no claim matches those, since several spellings could mean one site.
    package let host: String?
    /// What a browser gets as one argument: it begins with `http`, and characters that no URL may have behind its host
    /// (RFC 3986) are percent-encoded, `$` and apostrophes too.
    package let argument: String

    /// Nil unless `WebURL` accepts the address, and its host has nothing but letters, digits, `-`, `_` and `.`, or is
    /// an IPv6 address. Beyond ASCII letters, their marks and decimal digits are taken: symbols and punctuation there may
    /// become `/`, `?`, `#`, `@` or `:` for whom they are normalised, and another host with it.
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
        // All bytes beyond ASCII are in the host, as whole characters.
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

    /// Those of RFC 3986 without `$` and the apostrophe, which service managers and shells read as their own.
    private static let marks = Set("-._~:/?#[]@!&()*+,;=%".utf8)

    private static func isURLByte(_ byte: UInt8) -> Bool {
        AppID.isLetterOrDigit(byte) || marks.contains(byte)
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") - 10 + nibble
    }
}

/// A web site that an app claims: a host, or with `*.` in front all hosts below it, and not the host itself.
package struct DomainClaim: Hashable, Sendable, CustomStringConvertible {
    /// The host in lower case, without `*.` and a final dot.
    private let host: String
    /// Whether the hosts below are meant.
    private let isBelow: Bool

    /// Reads a claim.
    ///
    /// - Returns: nil for anything but a host name in ASCII (of other names the form with `xn--`), of 253 characters at most.
    ///   Below a single label such as `com` nothing can be claimed, and numbers are addresses, not names.
    package init?(_ text: String) {
        isBelow = text.utf8.starts(with: "*.".utf8)
        guard let host = Self.normalised(text.utf8.dropFirst(isBelow ? 2 : 0)), Self.isName(host) else { return nil }
        guard !isBelow || host.utf8.contains(UInt8(ascii: ".")) else { return nil }
        self.host = host
    }

    /// As it is written in a file.
    package var description: String { (isBelow ? "*." : "") + host }

    /// Whether a host, as `WebPage` has it, is meant.
    package func covers(_ host: String) -> Bool {
        guard isBelow else { return host == self.host }
        let suffix = "." + self.host
        return host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
    }

    /// A host in lower case without its final dot; nil when it is empty or not in ASCII.
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
