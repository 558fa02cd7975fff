package import HandoffCrypto
package import HandoffModel

/// What one statement says.
package enum StatementContent: Hashable, Sendable {
    /// The signer founded the account; `nonce` is 16 random bytes, and the account's id is the hash of both.
    case found(nonce: [UInt8])
    /// The signer admits the device of this key.
    case add(PublicKey)
    /// The signer lets whoever holds the private half of this key admit one device, once.
    case ticket(PublicKey)
    /// The signer is a ticket, and admits the device of this key.
    case use(PublicKey)
    /// The signer removes a device or a ticket for ever. Of those whom the subject admitted, only `keeps` stay: devices
    /// and tickets, ascending, each once.
    case remove(subject: Fingerprint, keeps: [Fingerprint])
    /// The signer calls a device `text`, 1 to 64 bytes; of several names the greatest counter holds.
    case name(subject: DeviceID, counter: UInt32, text: String)
    /// The signer made the account key of epoch `n`, for those who are live when exactly those of `removedDigest` are
    /// removed; `keyCommitment` is ``EpochKeys/commitment(to:)``.
    case epoch(n: UInt32, removedDigest: Fingerprint, keyCommitment: [UInt8])
}

/// The kind of a statement; the numbers are signed and stored, and never change.
package enum StatementKind: UInt8, Sendable, CaseIterable {
    /// ``StatementContent/found(nonce:)``
    case found = 1
    /// ``StatementContent/add(_:)``
    case add = 2
    /// ``StatementContent/ticket(_:)``
    case ticket = 3
    /// ``StatementContent/use(_:)``
    case use = 4
    /// ``StatementContent/remove(subject:keeps:)``
    case remove = 5
    /// ``StatementContent/name(subject:counter:text:)``
    case name = 6
    /// ``StatementContent/epoch(n:removedDigest:keyCommitment:)``
    case epoch = 7
}

extension StatementContent {
    /// The kind, without what it says.
    package var kind: StatementKind {
        switch self {
        case .found: .found
        case .add: .add
        case .ticket: .ticket
        case .use: .use
        case .remove: .remove
        case .name: .name
        case .epoch: .epoch
        }
    }

    /// The device or ticket that this admits; nil for kinds that admit nobody.
    var admitted: Fingerprint? {
        switch self {
        case .add(let key), .use(let key): Fingerprint(DeviceID(key))
        case .ticket(let key): Fingerprint(ticket: key)
        case .found, .remove, .name, .epoch: nil
        }
    }
}
