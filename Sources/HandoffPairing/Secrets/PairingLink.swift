package import HandoffCrypto
internal import HandoffModel

/// What a new device scans or pastes instead of typing digits: a strong secret, and where to call.
///
/// `handoff:pair/1/<secret in base 32>/<host:port>[,<host:port>…]`. The text is a secret like the digits: it belongs
/// neither into arguments of programs nor into logs.
package struct PairingLink: Sendable, Equatable {
    /// Bytes of the secret.
    package static let secretCount = 16
    /// Most places that a link may name.
    package static let maxCandidates = 8
    /// Most bytes of the whole text: a QR code of this size is still read by cheap cameras.
    package static let maxText = 512

    private static let beginning = "handoff:pair/1/"

    /// The secret, which also opens the gate.
    let secret: SecretBytes
    /// Where the inviting device listens, as host:port, the likeliest first; from 1 to ``maxCandidates``.
    package let candidates: [String]

    /// A new link with a random secret; candidates that cannot stand in a link, or for which there is no room, are left
    /// out.
    package init(candidates: [String]) throws(CryptoError) {
        self.init(secret: try SecretBytes(random: Self.secretCount), candidates: candidates)
    }

    /// The link with a given secret of ``secretCount`` bytes; tests and published examples only.
    package init(secret: SecretBytes, candidates: [String]) {
        self.secret = secret
        var room = Self.maxText - Self.beginning.utf8.count - 26
        var kept: [String] = []
        for candidate in candidates where kept.count < Self.maxCandidates && Self.isCandidate(candidate) {
            guard !kept.contains(candidate), candidate.utf8.count < room else { continue }
            room -= candidate.utf8.count + 1
            kept.append(candidate)
        }
        self.candidates = kept
    }

    /// Reads a link; `nil` unless it is exactly what ``text`` gives, with at least one candidate. Spaces and line ends
    /// around it, which pasting brings along, are ignored.
    package init?(_ text: String) {
        // Counted before anything is made of it; some room for the spaces.
        guard text.utf8.count <= 2 * Self.maxText else { return nil }
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\r\n" || $0 == "\t" }
        let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? text.startIndex
        let trimmed = text[..<end].drop(while: isSpace)
        guard trimmed.utf8.count <= Self.maxText, trimmed.hasPrefix(Self.beginning) else { return nil }
        let parts = trimmed.dropFirst(Self.beginning.count).split(separator: "/", omittingEmptySubsequences: false)
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

    /// The link as text, to be shown and never logged.
    package var text: String {
        var bytes = secret.exposedCopy()
        defer { SecretBytes.wipe(&bytes) }
        return Self.beginning + Base32.encode(bytes) + "/" + candidates.joined(separator: ",")
    }

    /// Whether `text` is a place to call: a name, an IPv4 address or an IPv6 address in brackets, then a port from 1.
    package static func isCandidate(_ text: String) -> Bool {
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
            // The zone of a link-local address may have an underscore in the name of its interface.
            case UInt8(ascii: ":"), UInt8(ascii: "%"), UInt8(ascii: "_"): isBracketed
            default: false
            }
        }
    }
}

extension PairingLink: CustomStringConvertible {
    package var description: String { "<secret link>" }
}

/// The door before TLS for those who have the link: others cannot even open a session through it.
extension PairingLink {
    /// Bytes in front of the ClientHello record.
    package static let tokenCount = HMACSHA256.byteCount

    /// First byte of a TLS record that carries a handshake. A token never begins with it, so that the first byte of a
    /// connection tells whether a token comes.
    package static let handshakeRecord: UInt8 = 0x16

    /// What goes before `clientHello`, the whole first TLS record, 32 bytes; `nil` when it would begin like a record:
    /// then the caller makes another ClientHello, one in 256 times.
    package func token(clientHello: [UInt8]) -> [UInt8]? {
        let token = code(for: clientHello)
        return token.first == Self.handshakeRecord ? nil : token
    }

    /// Whether `token` is the one for this link and record; compares in constant time.
    package func isValid(_ token: [UInt8], clientHello: [UInt8]) -> Bool {
        ConstantTime.equal(token, code(for: clientHello))
    }

    private func code(for clientHello: [UInt8]) -> [UInt8] {
        HMACSHA256.authenticate([Array("handoff/1 pair gate".utf8)[...], clientHello[...]], key: secret)
    }
}
