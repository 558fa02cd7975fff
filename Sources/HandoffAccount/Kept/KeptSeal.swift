package import HandoffCrypto
package import HandoffModel

/// Seals the copy of an activity that was sent to one device, so that the devices that keep it cannot
/// read it.
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

    /// Returns salt, ciphertext and tag.
    package func seal(_ payload: [UInt8], _ activity: ActivityID) throws(CryptoError) -> [UInt8] {
        let salt = Randomness.bytes(Envelope.saltCount)
        return try envelope.seal(payload, salt: salt, additionalData: sender.bytes + activity.bytes)
    }

    /// Returns the payload; nil if it was not sealed by the sender for this device and activity.
    package func open(_ sealed: [UInt8], _ activity: ActivityID) -> [UInt8]? {
        envelope.open(sealed[...], additionalData: [sender.bytes + activity.bytes])
    }
}
