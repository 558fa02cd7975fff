/// What the driver of a ``JoinerSession`` has to do, in this order.
package enum JoinerAction: Sendable {
    /// Write these bytes inside TLS.
    case send([UInt8])
    /// Derive the password with this salt, on a worker if it is of digits, then `use` it.
    case needsPassword(PairingSalt)
    /// Who the inviter is, proved; its user is being asked now.
    case inviter(PairingPeer)
    /// The account: check it, store it, then say `stored`.
    case account(PairedAccount)
    /// Nothing more comes; close the connection.
    case ended(PairingEnd)
}
