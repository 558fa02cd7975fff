internal import HandoffAccount
package import HandoffCrypto
package import HandoffModel
internal import HandoffProtocol

/// The plaintext of an identity frame: who a side is, proved for this session.
///
/// SPKI (44), u8 length of the name, name in UTF-8, Ed25519 signature (64) over
/// `"handoff/1 pair" || 0 || u8 role || exporter || SPKI`.
package enum PairingIdentity {
    /// Bytes of a subject public key info with an Ed25519 key.
    static let keyCount = 44
    /// Bytes of the shortest plaintext.
    static let leastCount = keyCount + 1 + 1 + PublicKey.signatureCount
    /// Most bytes of a name, as in the roster.
    package static let maxName = 64

    private static let domain = Array("handoff/1 pair".utf8) + [0]

    /// The plaintext for this device; the name is cut to what fits (``fitting(_:)``).
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

    /// The device that a plaintext proves; `nil` when anything in it is not as it should be.
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

    /// The name cut to ``maxName`` bytes without breaking a character of it; `device` when nothing is left.
    package static func fitting(_ name: String) -> String {
        let fitting = name.prefix(utf8Count: maxName)
        return fitting.isEmpty ? "device" : fitting
    }

    private static func signed(_ info: [UInt8], _ role: PairingRole, _ exporter: [UInt8]) -> [UInt8] {
        domain + [role.rawValue] + exporter + info
    }
}

/// The device at the other end, which has proved that it knows the code and owns the key.
package struct PairingPeer: Sendable, Hashable {
    /// Its key.
    package let publicKey: PublicKey
    /// What it calls itself, from 1 to 64 bytes: text of a stranger, to be escaped wherever it is shown.
    package let name: String

    /// Takes a key that was proved, and a name; `PairingIdentity` is what proves them in a session.
    package init(publicKey: PublicKey, name: String) {
        self.publicKey = publicKey
        self.name = name
    }

    /// Its id, of which people compare the first seven digits.
    package var device: DeviceID { DeviceID(publicKey) }
}
