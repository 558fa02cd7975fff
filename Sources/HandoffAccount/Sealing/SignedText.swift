package import HandoffCrypto
package import HandoffProtocol

/// An announcement followed by the device's signature, as contained in beacons and adverts.
///
/// The signed input starts with a purpose and a zero byte, and includes the label. A signature for
/// one purpose and label is invalid for every other.
struct SignedText {
    /// The use of the device key, such as `handoff/1 advert sig`.
    let purpose: String

    /// The bytes between the zero byte and the body: type and label, or the label.
    let context: [UInt8]

    /// Signs a body of fixed size and appends the signature.
    func sign(_ body: [UInt8], key: SigningKey) throws(CryptoError) -> [UInt8] {
        body + (try key.sign(input(body[...])))
    }

    /// Reads a signed plaintext. Checks the layout, then the device, then the signature.
    ///
    /// - Parameter headCount: number of signed bytes before the announcement.
    func verify(
        _ plaintext: [UInt8], behind headCount: Int = 0, publicKey: (Announcement) -> PublicKey?
    ) throws(SealError) -> Announcement {
        let count = plaintext.count - PublicKey.signatureCount
        guard count >= headCount else { throw .malformed }
        let body = plaintext.prefix(count)
        guard let announcement = try? Announcement(decoding: Array(body.dropFirst(headCount))) else {
            throw .malformed
        }
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

/// A signed advert before sealing. It is signed once per change and sealed for each receiver.
package struct SignedAdvert: Sendable, Equatable {
    /// The sender's label, which the signature covers.
    package let label: Label

    /// The fixed-size announcement, then the signature.
    package let plaintext: [UInt8]

    /// Size of the announcement in bytes, including its zero padding.
    package static let bodyCount = plaintextCount - PublicKey.signatureCount

    /// Size of announcement and signature in bytes.
    static let plaintextCount = AdvertSeal.advertCount - AdvertSeal.headerCount - Envelope.overhead

    /// Returns the announcement if its device signed it. Checks the layout, then the device, then
    /// the signature.
    ///
    /// - Parameter publicKey: returns the key of a device that is live in our roster, otherwise
    ///   nil.
    func verified(publicKey: (Announcement) -> PublicKey?) throws(SealError) -> Announcement {
        try Self.text(label).verify(plaintext, publicKey: publicKey)
    }

    private static func text(_ label: Label) -> SignedText {
        SignedText(purpose: "handoff/1 advert sig", context: [AdvertSeal.advertType] + label.bytes)
    }
}

extension SignedAdvert {
    /// Signs an announcement for adverts under `label` (57 us).
    package init(_ announcement: Announcement, label: Label, key: SigningKey) throws(CryptoError) {
        self.label = label
        plaintext = try Self.text(label).sign(announcement.encode(capacity: Self.bodyCount), key: key)
    }
}
