/// What the driver of an ``InviterSession`` has to do, in this order.
package enum InviterAction: Sendable, Equatable {
    /// Write these bytes inside TLS.
    case send([UInt8])
    /// A proof of the code has arrived: ask the ``PairingWindow``, then `checkGuess` or `refuse`.
    case guess
    /// The proof is wrong: count it, then `refuse` with what the window says.
    case wrongGuess
    /// The proof is right: the joiner knows the code, and no other may prove it from now on.
    case knowsCode
    /// Who the joiner is, proved: ask the user, then `handOver` or `refuse`.
    case joiner(PairingPeer)
    /// The joiner has stored the account.
    case stored
    /// Nothing more comes; close the connection.
    case ended(PairingEnd)
}
