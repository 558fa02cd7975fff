package import HandoffCrypto
internal import HandoffProtocol

/// The sealed channel inside TLS between two devices that have proved the code to each other.
///
/// Uses AES-256-GCM with one key for both directions. The nonce is the direction as u32 and a
/// counter as u64, so that no two frames share a nonce, and no frame can be omitted, repeated,
/// reordered or reflected.
package struct PairingSeal: Sendable {
    private let key: SecretBytes
    private let role: PairingRole
    private var sent: UInt64 = 0
    private var opened: UInt64 = 0

    /// Derives the key from the result of SPAKE2 and the exporter of the TLS connection.
    package init(sharedKey: SecretBytes, exporter: [UInt8], role: PairingRole) throws(CryptoError) {
        key = try HKDF.derive(
            sharedKey, salt: [], info: Array("handoff/1 pair transfer".utf8) + exporter, count: AESGCM.keyCount)
        self.role = role
    }

    /// Seals the next frame of this side.
    package mutating func seal(_ kind: PairingFrameKind, _ plaintext: [UInt8]) throws(CryptoError) -> PairingFrame {
        let nonce = nextToSend()
        return PairingFrame(kind, try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: [kind.rawValue]))
    }

    /// Seals the next frame of this side from a secret plaintext.
    package mutating func seal(_ kind: PairingFrameKind, _ secret: SecretBytes) throws(CryptoError) -> PairingFrame {
        let nonce = nextToSend()
        let sealed = try AESGCM.seal(secret, key: key, nonce: nonce, additionalData: [kind.rawValue])
        return PairingFrame(kind, sealed.exposedCopy())  // The sealed bytes are not secret.
    }

    /// Opens the peer's next frame. `nil` ends the session.
    package mutating func open(_ frame: PairingFrame) -> [UInt8]? {
        AESGCM.open(frame.body, key: key, nonce: nextToOpen(), additionalData: [frame.kind.rawValue])
    }

    /// Opens the peer's next frame into a secret plaintext. `nil` ends the session.
    mutating func openSecret(_ frame: PairingFrame) -> SecretBytes? {
        let sealed = SecretBytes(copying: frame.body)
        return AESGCM.open(
            sealed, in: 0..<sealed.count, key: key, nonce: nextToOpen(), additionalData: [frame.kind.rawValue])
    }

    private mutating func nextToSend() -> [UInt8] {
        defer { sent &+= 1 }
        return Self.nonce(from: role, sent)
    }

    private mutating func nextToOpen() -> [UInt8] {
        defer { opened &+= 1 }
        return Self.nonce(from: role.other, opened)
    }

    private static func nonce(from role: PairingRole, _ counter: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: AESGCM.nonceCount)
        writer.u32(UInt32(role.rawValue))
        writer.u64(counter)
        return writer.bytes
    }
}
