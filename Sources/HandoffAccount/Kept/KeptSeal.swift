package import HandoffCrypto
package import HandoffModel

/// Seals the copies of an activity that was sent to one device, so that the devices that keep them
/// cannot read them.
package struct KeptSeal {
    private let envelope: Envelope
    private let sender: DeviceID

    /// - Parameters:
    ///   - keys: the secrets of the sender and the recipient.
    ///   - sender: the device that sends the activity.
    package init(_ keys: PairwiseKeys, sender: DeviceID) {
        envelope = Envelope(purpose: "handoff/1 kept seal", key: keys.kept)
        self.sender = sender
    }

    /// Divides an item into parts, and seals each.
    ///
    /// - Returns: nil if the item has too many parts.
    package func seal(_ bytes: [UInt8], _ item: ActivityID, for recipient: DeviceID) throws(CryptoError) -> [[UInt8]]? {
        let version = Randomness.bytes(KeptPart.versionCount)
        let ranges = KeptPart.ranges(bytes.count)
        var parts: [[UInt8]] = []
        for (number, range) in ranges.enumerated() {
            let part = KeptPart(recipient: recipient, item: item, version: version, number: number, count: ranges.count)
            guard let part else { return nil }
            parts.append(try seal(Array(bytes[range]), part, salt: Randomness.bytes(Envelope.saltCount)))
        }
        return parts
    }

    /// Returns one part. A salt is used once.
    func seal(_ content: [UInt8], _ part: KeptPart, salt: [UInt8]) throws(CryptoError) -> [UInt8] {
        part.header + (try envelope.seal(content, salt: salt, additionalData: sender.bytes + part.header))
    }

    /// Returns the content of a part; nil if it was not sealed by the sender for this device, item,
    /// version, number and count.
    package func open(_ payload: [UInt8]) -> [UInt8]? {
        guard let part = KeptPart(payload) else { return nil }
        return envelope.open(
            payload.dropFirst(KeptPart.headerCount), additionalData: [sender.bytes + part.header])
    }
}
