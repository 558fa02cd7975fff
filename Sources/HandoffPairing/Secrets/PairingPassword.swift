package import HandoffCrypto

/// `w` of SPAKE2, made from what the two people share and the salt of the window.
package struct PairingPassword: Sendable {
    /// The number, from 1 to the order less 1.
    let scalar: P256Scalar

    private static let linkDomain = Array("handoff/1 pair link".utf8)
    /// Bytes that are reduced to `w`: 16 more than the order has, so that the bias is below 2^-128.
    private static let wideCount = 48

    /// From the digits by ``Scrypt/standard``, which takes 64 MiB and some 0.2 s, so it belongs on a worker.
    ///
    /// `nil` where a salt gives 0, once in 2^256: then the inviter takes another salt, and the joiner gives up.
    package init?(code: PairingCode, salt: PairingSalt) throws(CryptoError) {
        let wide = try Scrypt.standard.key(
            from: code.secret, for: .pairing, salt: salt.bytes, count: Self.wideCount)
        guard let scalar = try P256Scalar(reducing: wide) else { return nil }
        self.scalar = scalar
    }

    /// From the secret of a link, which needs no slow derivation.
    ///
    /// `nil` as for a code.
    package init?(link: PairingLink, salt: PairingSalt) throws(CryptoError) {
        let wide = try HKDF.derive(link.secret, salt: salt.bytes, info: Self.linkDomain, count: Self.wideCount)
        guard let scalar = try P256Scalar(reducing: wide) else { return nil }
        self.scalar = scalar
    }

    /// A new salt, and the password of a code with it; slow as ``init(code:salt:)``.
    package static func salted(_ code: PairingCode) throws(CryptoError) -> (PairingSalt, PairingPassword) {
        while true {
            let salt = PairingSalt()
            if let password = try PairingPassword(code: code, salt: salt) { return (salt, password) }
        }
    }

    /// A new salt, and the password of a link with it.
    package static func salted(_ link: PairingLink) throws(CryptoError) -> (PairingSalt, PairingPassword) {
        while true {
            let salt = PairingSalt()
            if let password = try PairingPassword(link: link, salt: salt) { return (salt, password) }
        }
    }
}

/// Random bytes of a window that make its codes unlike those of all others; no secret.
package struct PairingSalt: Hashable, Sendable {
    /// Bytes of a salt.
    package static let byteCount = 16

    /// The bytes, exactly `byteCount`.
    package let bytes: [UInt8]

    /// A new salt.
    package init() {
        bytes = Randomness.bytes(Self.byteCount)
    }

    /// A salt that was received; `nil` for another length.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
