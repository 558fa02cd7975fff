internal import HandoffAccount
package import HandoffCrypto
package import HandoffModel
internal import HandoffProtocol

/// The plaintext of an identity frame: the identity of a side with its proof for this session.
///
/// SPKI (44), u8 length of the name, name in UTF-8, Ed25519 signature (64) over
/// `"handoff/1 pair" || 0 || u8 role || exporter || SPKI`.
package enum PairingIdentity {
    /// Size of a subject public key info with an Ed25519 key, in bytes.
    static let keyCount = 44
    /// Size of the shortest plaintext in bytes.
    static let minCount = keyCount + 1 + 1 + PublicKey.signatureCount
    /// Maximum length of a name in bytes, as in the roster.
    package static let maxName = 64

    private static let domain = Array("handoff/1 pair".utf8) + [0]

    /// Encodes the identity of this device. The name is truncated to the limit (``fitting(_:)``).
    static func encode(
        key: SigningKey, name: String, role: PairingRole, exporter: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let info = key.publicKey.subjectPublicKeyInfo
        let name = fitting(name)
        var writer = ByteWriter(capacity: keyCount + 1 + name.utf8.count + PublicKey.signatureCount)
        writer.raw(info)
        writer.u8(UInt8(clamping: name.utf8.count))
        writer.text(name)
        writer.raw(try key.sign(signed(info, role, exporter)))
        return writer.bytes
    }

    /// Decodes and checks a plaintext. Returns the proved device, or `nil` if anything is invalid.
    static func decode(_ plaintext: [UInt8], role: PairingRole, exporter: [UInt8]) -> PairingPeer? {
        do throws(ByteError) {
            var reader = ByteReader(plaintext)
            let info = try reader.bytes(keyCount)
            let count = Int(try reader.u8())
            guard (1...maxName).contains(count), let key = PublicKey(subjectPublicKeyInfo: info) else { return nil }
            let name = try reader.text(count)
            let signature = try reader.bytes(PublicKey.signatureCount)
            try reader.finish()
            guard key.isValidSignature(signature, for: signed(info, role, exporter)) else { return nil }
            return PairingPeer(publicKey: key, name: name)
        } catch {
            return nil
        }
    }

    /// Truncates a name to ``maxName`` bytes at a character boundary. Returns `device` if nothing
    /// is left.
    package static func fitting(_ name: String) -> String {
        let fitting = name.prefix(utf8Count: maxName)
        return fitting.isEmpty ? "device" : fitting
    }

    private static func signed(_ info: [UInt8], _ role: PairingRole, _ exporter: [UInt8]) -> [UInt8] {
        domain + [role.rawValue] + exporter + info
    }
}

/// The peer, which has proved that it knows the code and owns the key.
package struct PairingPeer: Sendable, Hashable {
    /// Its key.
    package let publicKey: PublicKey
    /// The name it gives itself, 1 to 64 bytes. It is untrusted text and must be escaped when
    /// shown.
    package let name: String

    /// Its id, of which users compare the first seven digits.
    package var device: DeviceID { DeviceID(publicKey) }
}
