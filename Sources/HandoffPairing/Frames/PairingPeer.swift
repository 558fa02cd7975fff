internal import HandoffAccount
package import HandoffCrypto
package import HandoffModel

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
