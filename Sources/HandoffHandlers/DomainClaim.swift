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
