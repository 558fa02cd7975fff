package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// Seals and opens the two kinds of datagram: adverts of 1,200 bytes and acknowledgements of 128.
package enum AdvertSeal {
    /// Size of an advert in bytes. With headers it is below 1,280, which every IPv6 link carries
    /// unfragmented.
    package static let advertCount = 1200

    /// Size of an acknowledgement in bytes, which is never greater than that of the datagram it
    /// answers.
    static let acknowledgementCount = 128

    /// Size of the salt, which identifies a datagram in its acknowledgement.
    package static let saltCount = Envelope.saltCount

    /// Size of the type and the sender's label, which precede the envelope.
    static let headerCount = 1 + Label.byteCount

    static let advertType: UInt8 = 1
    static let acknowledgementType: UInt8 = 2

    /// Seals a signed advert for the device with the current label `receiver` (1.4 us).
    ///
    /// - Parameters:
    ///   - advertKey: the `advert` sub-key of the epoch.
    ///   - salt: 16 random bytes, different for every datagram. Only tests pass it.
    package static func seal(
        _ advert: SignedAdvert, to receiver: Label, advertKey: SecretBytes, salt: [UInt8] = Randomness.bytes(16)
    ) throws(CryptoError) -> [UInt8] {
        try seal(advert.plaintext, type: advertType, from: advert.label, to: receiver, key: advertKey, salt: salt)
    }

    /// Seals an acknowledgement. The parameters are the same as for adverts.
    package static func seal(
        _ acknowledgement: Acknowledgement, from sender: Label, to receiver: Label, advertKey: SecretBytes,
        salt: [UInt8] = Randomness.bytes(16)
    ) throws(CryptoError) -> [UInt8] {
        try seal(
            acknowledgement.encoded(), type: acknowledgementType, from: sender, to: receiver, key: advertKey,
            salt: salt)
    }

    /// Opens a datagram. Checks its shape, seal, layout, device and signature.
    ///
    /// The sender's label is not checked: a member may have created it in an earlier epoch, and any
    /// host can copy one from mDNS.
    ///
    /// - Parameters:
    ///   - receivers: our current label, and the previous one while it is still accepted.
    ///   - publicKey: returns the key of a device that is live in our roster, otherwise nil.
    package static func open(
        _ datagram: [UInt8], receivers: [Label], advertKey: SecretBytes, publicKey: (DeviceID) -> PublicKey?
    ) throws(SealError) -> OpenedDatagram {
        guard let type = datagram.first, datagram.count == count(ofType: type), !receivers.isEmpty,
            let sender = Label(bytes: datagram[1..<headerCount])
        else { throw .shape }
        let candidates = receivers.map { additionalData(type, from: sender, to: $0) }
        let opened = envelope(advertKey).open(datagram[headerCount...], additionalData: candidates)
        guard let opened else { throw .notGenuine }
        if type == advertType {
            let advert = SignedAdvert(label: sender, plaintext: opened)
            let salt = Array(datagram[headerCount..<headerCount + saltCount])
            return .advert(try advert.verified { publicKey($0.deviceID) }, from: sender, salt: salt)
        }
        guard let acknowledgement = try? Acknowledgement(decoding: opened) else { throw .malformed }
        guard publicKey(acknowledgement.deviceID) != nil else { throw .unknownDevice }
        return .acknowledgement(acknowledgement, from: sender)
    }

    private static func seal(
        _ plaintext: [UInt8], type: UInt8, from sender: Label, to receiver: Label, key: SecretBytes, salt: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let data = additionalData(type, from: sender, to: receiver)
        return [type] + sender.bytes + (try envelope(key).seal(plaintext, salt: salt, additionalData: data))
    }

    /// The only valid size of each type, or nil for types of later versions.
    private static func count(ofType type: UInt8) -> Int? {
        switch type {
        case advertType: advertCount
        case acknowledgementType: acknowledgementCount
        default: nil
        }
    }

    private static func envelope(_ key: SecretBytes) -> Envelope {
        Envelope(purpose: "handoff/1 advert key", key: key)
    }

    private static func additionalData(_ type: UInt8, from sender: Label, to receiver: Label) -> [UInt8] {
        Array("handoff/1 advert".utf8) + [type] + sender.bytes + receiver.bytes
    }
}

/// A datagram that has passed all checks.
package enum OpenedDatagram: Sendable, Equatable {
    /// An announcement of a live device with its current label. The salt identifies the datagram in
    /// its acknowledgement.
    case advert(Announcement, from: Label, salt: [UInt8])

    /// An acknowledgement that names a live device. Any member could have sealed it, so the caller
    /// must check its code.
    case acknowledgement(Acknowledgement, from: Label)
}
