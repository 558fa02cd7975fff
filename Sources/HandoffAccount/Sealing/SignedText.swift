package import HandoffCrypto
package import HandoffProtocol

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
    ///
    /// - Parameter headCount: bytes that are signed in front of the announcement.
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

/// An advert that is signed but not sealed yet: made once for every change, sealed for each receiver.
package struct SignedAdvert: Sendable, Equatable {
    /// The sender's label, which the signature covers.
    package let label: Label

    /// Announcement of fixed size, then signature.
    package let plaintext: [UInt8]

    /// Bytes of the announcement, zeros included.
    package static let bodyCount = plaintextCount - PublicKey.signatureCount

    /// Bytes of announcement and signature.
    static let plaintextCount = AdvertSeal.advertCount - AdvertSeal.headerCount - Envelope.overhead

    /// Signs an announcement for adverts under `label` (57 us).
    package init(_ announcement: Announcement, label: Label, key: SigningKey) throws(CryptoError) {
        self.label = label
        plaintext = try Self.text(label).sign(announcement.encode(capacity: Self.bodyCount), key: key)
    }

    /// An advert that was opened, its signature not checked yet.
    package init(label: Label, plaintext: [UInt8]) {
        self.label = label
        self.plaintext = plaintext
    }

    /// The announcement, if its device signed it: layout, then device, then signature.
    ///
    /// - Parameter publicKey: the key of a device that may say this, being live in our roster, else nil.
    package func verified(publicKey: (Announcement) -> PublicKey?) throws(SealError) -> Announcement {
        try Self.text(label).verify(plaintext, publicKey: publicKey)
    }

    private static func text(_ label: Label) -> SignedText {
        SignedText(purpose: "handoff/1 advert sig", context: [AdvertSeal.advertType] + label.bytes)
    }
}
