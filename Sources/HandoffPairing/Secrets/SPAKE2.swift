package import HandoffCrypto
internal import HandoffModel
internal import HandoffProtocol

/// One side of one SPAKE2 exchange, suite P256-SHA256-HKDF-HMAC (RFC 9382): two parties that share
/// a weak password agree on a strong key.
///
/// A value serves one exchange with one peer. Use a new value for each peer: the private scalar
/// must not be reused.
package struct SPAKE2: Sendable {
    /// The public share sent to the peer, an uncompressed point: `pA` or `pB`.
    package let share: [UInt8]

    private let role: SPAKE2Role
    private let password: P256Scalar
    private let identities: SPAKE2Identities
    private let scalar: P256Scalar

    /// Size of a share in bytes.
    static let shareCount = P256Point.byteCount

    /// M and N for P-256 (RFC 9382 section 4), uncompressed. Their discrete logarithms are unknown.
    private static let m = point(
        "04886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f"
            + "5ff355163e43ce224e0b0e65ff02ac8e5c7be09419c785e0ca547d55a12e2d20")
    private static let n = point(
        "04d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49"
            + "07d60aa6bfade45008a636337f5168c64d9bd36034808cd564490b1e656edbe7")

    /// Starts an exchange.
    ///
    /// - Parameters:
    ///   - password: `w`, from 1 to the order minus 1.
    ///   - scalar: `x` or `y`. Set only by tests and published examples; a fresh scalar by default.
    package init(
        role: SPAKE2Role, password: P256Scalar, identities: SPAKE2Identities, scalar: P256Scalar? = nil
    ) throws(CryptoError) {
        let scalar = if let scalar { scalar } else { try P256Scalar() }
        let own = try P256Point(generatorTimes: scalar)
        share = try own.plus(Self.blind(role, password)).uncompressed
        self.role = role
        self.password = password
        self.identities = identities
        self.scalar = scalar
    }

    /// Derives the keys from the peer's share. Returns `nil` if the share is not a point.
    ///
    /// Both sides derive the same keys only if they used the same password, identities and
    /// additional data. The confirmations verify this.
    package func keys(for peerShare: [UInt8]) throws(CryptoError) -> SPAKE2Keys? {
        guard let peer = P256Point(uncompressed: peerShare) else { return nil }
        let (shareA, shareB) = role == .a ? (share, peerShare) : (peerShare, share)
        let k = try unblinded(peer).times(scalar)
        return try SPAKE2Keys(role: role, transcript: transcript(shareA, shareB, k), identities: identities)
    }

    /// The peer's own part of its share, or a random point if that is infinity.
    ///
    /// RFC 9382 requires rejecting infinity. It is rejected by the confirmation, which no peer can
    /// then produce. Immediate rejection would tell a peer that sends w' times M or N that its
    /// guess w' is right, any number of times, without a confirmation that counts as a guess.
    private func unblinded(_ peer: P256Point) throws(CryptoError) -> P256Point {
        let blind = try Self.blind(role == .a ? .b : .a, password)
        // Computed in every case, so that the timing reveals little about which case applies.
        let random = try P256Point(generatorTimes: P256Scalar())
        return peer.secretUncompressed == blind.secretUncompressed ? random : try peer.minus(blind)
    }

    /// w times M for A, w times N for B. It hides a side's part from parties that do not know w.
    private static func blind(_ role: SPAKE2Role, _ password: P256Scalar) throws(CryptoError) -> P256Point {
        switch role {
        case .a: try m.times(password)
        case .b: try n.times(password)
        }
    }

    /// TT of RFC 9382 section 3.3: each part is preceded by its length, 8 bytes little-endian.
    private func transcript(_ shareA: [UInt8], _ shareB: [UInt8], _ k: P256Point) -> SecretBytes {
        let parts = [identities.a, identities.b, shareA, shareB].map { SecretBytes(copying: $0) }
        return SecretBytes.concatenated(
            (parts + [k.secretUncompressed, password.bytes]).flatMap { [Self.length($0.count), $0] })
    }

    private static func length(_ count: Int) -> SecretBytes {
        var writer = ByteWriter(capacity: 8)
        writer.u64(UInt64(clamping: count).byteSwapped)
        return SecretBytes(copying: writer.bytes)
    }

    private static func point(_ hex: String) -> P256Point {
        guard let bytes = Hex.decode(hex), let point = P256Point(uncompressed: bytes) else {
            // Both callers pass constants of RFC 9382, which the tests use in computations.
            preconditionFailure("a constant is not a point")
        }
        return point
    }
}

/// A side of SPAKE2. The two sides are not symmetric.
package enum SPAKE2Role: Sendable, Hashable {
    /// Starts, blinds with M, and sends its confirmation first.
    case a
    /// Answers, and blinds with N.
    case b
}

/// The inputs of a SPAKE2 exchange that both sides know in addition to the password. They must be
/// equal on both sides.
package struct SPAKE2Identities: Sendable, Hashable {
    /// Identity of the side that starts, `A`.
    package let a: [UInt8]
    /// Identity of the other side, `B`.
    package let b: [UInt8]
    /// `AAD` of RFC 9382 section 4, bound into the confirmations.
    package let additionalData: [UInt8]

    /// Creates the identities of both sides and the data bound to the exchange.
    package init(a: [UInt8], b: [UInt8], additionalData: [UInt8]) {
        self.a = a
        self.b = b
        self.additionalData = additionalData
    }
}

/// The result of a SPAKE2 exchange: the key, and the proofs that each side has it (RFC 9382 section
/// 4).
package struct SPAKE2Keys: Sendable {
    /// `Ke`, 16 bytes: the shared key, valid once the peer has confirmed.
    package let sharedKey: SecretBytes
    /// The proof of this side, 32 bytes: `cA` or `cB`.
    package let confirmation: [UInt8]
    /// The confirmation that the peer must send.
    private let expected: [UInt8]

    /// Size of a confirmation in bytes.
    static let confirmationCount = HMACSHA256.byteCount
    /// Size of each of Ke, Ka, KcA and KcB in bytes.
    private static let keyCount = 16

    init(role: SPAKE2Role, transcript: SecretBytes, identities: SPAKE2Identities) throws(CryptoError) {
        var hash = SHA256.hash(transcript)
        sharedKey = SecretBytes(copying: hash.prefix(Self.keyCount))
        let authentication = SecretBytes(copying: hash.suffix(Self.keyCount))
        SecretBytes.wipe(&hash)
        let info = Array("ConfirmationKeys".utf8) + identities.additionalData
        var both = try HKDF.derive(authentication, salt: [], info: info, count: 2 * Self.keyCount).exposedCopy()
        let keyA = SecretBytes(copying: both.prefix(Self.keyCount))
        let keyB = SecretBytes(copying: both.suffix(Self.keyCount))
        SecretBytes.wipe(&both)
        let ofA = HMACSHA256.authenticate(transcript, key: keyA)
        let ofB = HMACSHA256.authenticate(transcript, key: keyB)
        (confirmation, expected) = role == .a ? (ofA, ofB) : (ofB, ofA)
    }

    /// Returns whether the peer has the same keys. Compares in constant time and rejects a
    /// truncated confirmation.
    package func isConfirmed(by confirmation: [UInt8]) -> Bool {
        ConstantTime.equal(confirmation, expected)
    }
}

extension SPAKE2Keys: CustomStringConvertible, CustomReflectable {
    package var description: String { "<secret keys>" }
    /// Empty, so that reflection does not reveal the confirmation expected from the peer.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
