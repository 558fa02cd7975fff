/// What the inviting device shows: digits, or a link.
enum PairingSecret: Equatable {
    /// Eight ASCII digits.
    case code(String)
    /// A text that begins with `handoff:`; what is in it is for the daemon to understand.
    case link(String)

    private static let digits = 8
    private static let scheme = "handoff:"
    /// The longest link, in bytes.
    private static let longestLink = 512

    /// Understands what a person typed: digits in any groups, or a link. Nil when it is neither.
    init?(_ text: String) {
        if text.lowercased().hasPrefix(Self.scheme) {
            let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            guard isVisible, text.utf8.count <= Self.longestLink else { return nil }
            // Schemes are the same in either case; the rest is taken as it is.
            self = .link(Self.scheme + text.dropFirst(Self.scheme.count))
            return
        }
        let bare = text.filter { !$0.isWhitespace && $0 != "-" }
        guard bare.utf8.count == Self.digits, bare.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = .code(bare)
    }
}
