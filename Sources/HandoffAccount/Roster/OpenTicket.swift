package import HandoffCrypto
package import HandoffModel

/// A ticket that still admits whoever holds its file: `account export` made it, and no member has closed it.
package struct OpenTicket: Hashable, Sendable {
    /// The ticket.
    package let id: Fingerprint
    /// The key that signs its use.
    package let key: PublicKey
    /// The device that exported the account.
    package let issuer: DeviceID
    /// Devices that used it, ascending. One is admitted; of several none is, and their users have to be told.
    package let users: [DeviceID]
}
