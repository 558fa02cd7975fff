import HandoffCrypto
import HandoffProtocol

/// An announcement with the device's signature behind it, as it stands inside beacons and adverts.
///
/// The signed input starts with a purpose and a zero byte, and holds the label: a signature for one use or label is
/// void for every other.
struct SignedText {
    /// Separates the use of the device key, such as `handoff/1 advert sig`.
    let purpose: String

    /// What stands between the zero byte and the body: type and label, or the label.
    let context: [UInt8]

    /// Signs a body of fixed size and appends the signature.
    func sign(_ body: [UInt8], key: SigningKey) throws(CryptoError) -> [UInt8] {
        body + (try key.sign(input(body[...])))
    }

    /// Reads a signed plaintext: layout, then device, then signature.
    func verify(
        _ plaintext: [UInt8], publicKey: (Announcement) -> PublicKey?
    ) throws(SealError) -> Announcement {
        let count = plaintext.count - PublicKey.signatureCount
        guard count >= 0 else { throw .malformed }
        let body = plaintext.prefix(count)
        guard let announcement = try? Announcement(decoding: Array(body)) else { throw .malformed }
        guard let key = publicKey(announcement) else { throw .unknownDevice }
        guard key.isValidSignature(Array(plaintext.suffix(PublicKey.signatureCount)), for: input(body)) else {
            throw .wrongSignature
        }
        return announcement
    }

    private func input(_ body: ArraySlice<UInt8>) -> [UInt8] {
        Array(purpose.utf8) + [0] + context + body
    }
}
