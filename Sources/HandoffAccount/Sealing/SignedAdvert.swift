package import HandoffCrypto
package import HandoffProtocol

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
