package import HandoffCrypto

/// `w` of SPAKE2, derived from the shared code or link and the salt of the window.
package struct PairingPassword: Sendable {
    /// The number, from 1 to the order minus 1.
    let scalar: P256Scalar

    private static let linkDomain = Array("handoff/1 pair link".utf8)
    /// Number of bytes reduced to `w`: 16 more than the order, so that the bias is below 2^-128.
    private static let wideCount = 48

    /// Derives the password from the digits with ``Scrypt/standard``. Run it on a worker: it takes
    /// 64 MiB and about 0.2 s.
    ///
    /// `nil` if the result is 0, once in 2^256. The inviter then chooses another salt, and the
    /// joiner gives up.
    package init?(code: PairingCode, salt: PairingSalt) throws(CryptoError) {
        let wide = try Scrypt.standard.key(
            from: code.secret, for: .pairing, salt: salt.bytes, count: Self.wideCount)
        guard let scalar = try P256Scalar(reducing: wide) else { return nil }
        self.scalar = scalar
    }

    /// Derives the password from the secret of a link, which needs no slow derivation.
    ///
    /// `nil` as for a code.
    package init?(link: PairingLink, salt: PairingSalt) throws(CryptoError) {
        let wide = try HKDF.derive(link.secret, salt: salt.bytes, info: Self.linkDomain, count: Self.wideCount)
        guard let scalar = try P256Scalar(reducing: wide) else { return nil }
        self.scalar = scalar
    }

    /// Creates a salt and derives the password of a code with it. As slow as ``init(code:salt:)``.
    package static func salted(_ code: PairingCode) throws(CryptoError) -> (PairingSalt, PairingPassword) {
        while true {
            let salt = PairingSalt()
            if let password = try PairingPassword(code: code, salt: salt) { return (salt, password) }
        }
    }

    /// Creates a salt and derives the password of a link with it.
    package static func salted(_ link: PairingLink) throws(CryptoError) -> (PairingSalt, PairingPassword) {
        while true {
            let salt = PairingSalt()
            if let password = try PairingPassword(link: link, salt: salt) { return (salt, password) }
        }
    }
}

/// Random bytes that make the codes of a window different from those of all others. Not secret.
package struct PairingSalt: Hashable, Sendable {
    /// Size of a salt in bytes.
    static let byteCount = 16

    /// The bytes, exactly `byteCount`.
    package let bytes: [UInt8]

    /// Creates a random salt.
    package init() {
        bytes = Randomness.bytes(Self.byteCount)
    }

    /// Creates a salt from received bytes. `nil` if the length is wrong.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
