package import HandoffCrypto
internal import HandoffModel

/// A link that a new device scans or pastes instead of typing digits. It contains a strong secret
/// and the addresses of the inviter.
///
/// `handoff:pair/1/<secret in base 32>/<host:port>[,<host:port>…]`. The text is secret like the
/// digits: never put it into program arguments or logs.
package struct PairingLink: Sendable, Equatable {
    /// Size of the secret in bytes.
    static let secretCount = 16
    /// Maximum number of addresses in a link.
    static let maxCandidates = 8
    /// Maximum size of the whole text in bytes. Cheap cameras can still read a QR code of this
    /// size.
    package static let maxText = 512

    private static let prefix = "handoff:pair/1/"

    /// The secret, which also opens the gate.
    let secret: SecretBytes
    /// The addresses of the inviter as host:port, likeliest first; 1 to ``maxCandidates``.
    package let candidates: [String]

    /// Creates a link with a random secret. Candidates that are invalid or do not fit are omitted.
    package init(candidates: [String]) throws(CryptoError) {
        self.init(secret: try SecretBytes(random: Self.secretCount), candidates: candidates)
    }

    /// Creates a link with a given secret of ``secretCount`` bytes. For tests and published
    /// examples only.
    package init(secret: SecretBytes, candidates: [String]) {
        self.secret = secret
        var room = Self.maxText - Self.prefix.utf8.count - 26
        var kept: [String] = []
        for candidate in candidates where kept.count < Self.maxCandidates && Self.isCandidate(candidate) {
            guard !kept.contains(candidate), candidate.utf8.count < room else { continue }
            room -= candidate.utf8.count + 1
            kept.append(candidate)
        }
        self.candidates = kept
    }

    /// Parses a link. Returns `nil` unless it equals its own ``text`` and has at least one
    /// candidate. Leading and trailing spaces and line ends, which pasting can add, are ignored.
    package init?(_ text: String) {
        // Checked before any processing, with some allowance for spaces.
        guard text.utf8.count <= 2 * Self.maxText else { return nil }
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\r\n" || $0 == "\t" }
        let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? text.startIndex
        let trimmed = text[..<end].drop(while: isSpace)
        guard trimmed.utf8.count <= Self.maxText, trimmed.hasPrefix(Self.prefix) else { return nil }
        let parts = trimmed.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let digits = parts.first, let places = parts.last,
            var bytes = Base32.decode(String(digits)), bytes.count == Self.secretCount,
            Base32.encode(bytes) == digits
        else { return nil }
        let candidates = places.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard (1...Self.maxCandidates).contains(candidates.count), candidates.allSatisfy(Self.isCandidate) else {
            return nil
        }
        secret = SecretBytes(wiping: &bytes)
        self.candidates = candidates
    }

    /// The link as text, for display. Never log it.
    package var text: String {
        var bytes = secret.exposedCopy()
        defer { SecretBytes.wipe(&bytes) }
        return Self.prefix + Base32.encode(bytes) + "/" + candidates.joined(separator: ",")
    }

    /// Returns whether `text` is a host and port: a name, an IPv4 address or an IPv6 address in
    /// brackets, then a port from 1.
    static func isCandidate(_ text: String) -> Bool {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return false }
        let port = text.utf8[text.utf8.index(after: colon)...]
        guard (1...5).contains(port.count), port.allSatisfy({ (0x30...0x39).contains($0) }), port.first != 0x30,
            UInt16(String(text[text.utf8.index(after: colon)...])) != nil
        else { return false }
        let host = text.utf8[..<colon]
        let isBracketed = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]")
        let name = isBracketed ? host.dropFirst().dropLast() : host
        guard !name.isEmpty else { return false }
        return name.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"): true
            // The zone of a link-local address can have an underscore in its interface name.
            case UInt8(ascii: ":"), UInt8(ascii: "%"), UInt8(ascii: "_"): isBracketed
            default: false
            }
        }
    }
}

extension PairingLink: CustomStringConvertible {
    package var description: String { "<secret link>" }
}

/// The gate before TLS for devices that have the link. Others cannot open a session through it.
extension PairingLink {
    /// Number of bytes before the ClientHello record.
    package static let tokenCount = HMACSHA256.byteCount

    /// First byte of a TLS handshake record. A token never starts with it, so the first byte of a
    /// connection shows whether it starts with a token.
    package static let handshakeRecord: UInt8 = 0x16

    /// The 32-byte token that precedes `clientHello`, the whole first TLS record. `nil` in 1 of 256
    /// cases, when it would start like a record; the caller then creates another ClientHello.
    package func token(clientHello: [UInt8]) -> [UInt8]? {
        let token = code(for: clientHello)
        return token.first == Self.handshakeRecord ? nil : token
    }

    /// Returns whether `token` is valid for this link and record. Compares in constant time.
    package func isValid(_ token: [UInt8], clientHello: [UInt8]) -> Bool {
        ConstantTime.equal(token, code(for: clientHello))
    }

    private func code(for clientHello: [UInt8]) -> [UInt8] {
        HMACSHA256.authenticate([Array("handoff/1 pair gate".utf8)[...], clientHello[...]], key: secret)
    }
}
