package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The secrets of two devices that nobody else has, also no other member: by them two members find each other that know
/// no key of each other's epochs.
///
/// They follow from the two device keys and the account alone, so they outlive every epoch; and a device that was
/// removed has those that it shared itself, but none of two others.
package struct PairKeys: Sendable {
    /// Opens the gate for statements and keys.
    package let gate: SecretBytes
    private let secret: SecretBytes

    /// `S = HKDF(X25519 of both keys, accountID, "handoff/1 missing" || smaller device id || greater device id)`, gate
    /// key `HKDF-Expand(S, "gate")`.
    ///
    /// - Throws: when the other key allows no agreement; such a device is found by epoch keys only.
    package init(own: SigningKey, other: PublicKey, accountID: AccountID) throws(CryptoError) {
        let shared = try own.sharedSecret(with: other)
        let ids = [DeviceID(own.publicKey), DeviceID(other)].sorted()
        let info = Array("handoff/1 missing".utf8) + ids.flatMap(\.bytes)
        secret = try HKDF.derive(shared, salt: accountID.bytes, info: info)
        gate = try HKDF.expand(secret, info: Array("gate".utf8))
    }

    /// What one of the two writes beside its beacon under `label`, for the other one: 8 bytes that only these two can
    /// tell from random ones.
    package func mark(under label: Label) -> [UInt8] {
        let code = HMACSHA256.authenticate([Array("mark".utf8)[...], label.bytes[...]], key: secret)
        return Array(code.prefix(Marks.markCount))
    }
}
