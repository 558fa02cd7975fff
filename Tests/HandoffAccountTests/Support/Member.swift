import HandoffAccount
import HandoffCrypto
import HandoffModel

/// A device with its key and its state of one account. Performs the daemon's exchanges between
/// devices.
struct Member {
    let key: SigningKey
    var state: AccountState

    var id: DeviceID { DeviceID(key.publicKey) }

    /// Start of the tests, in seconds since 1970.
    static let start: UInt64 = 1_000_000

    /// The founder, with key 0.
    static func founder() throws -> Member {
        let key = try TestKeys.key(0)
        return Member(key: key, state: try AccountState.creating(device: key, name: "founder", now: start))
    }

    /// Pairs the device of key `number`.
    mutating func pair(_ number: Int) throws -> Member {
        let guest = try TestKeys.key(number)
        state = try state.admitting(guest.publicKey, name: "device \(number)", by: key)
        guard let held = state.keyToHandOver(to: DeviceID(guest.publicKey)) else { throw AccountError.noCurrentKey }
        let joined = try AccountState.joining(
            state.roster, device: DeviceID(guest.publicKey), accountKey: held.accountKey, now: Self.start)
        return Member(key: guest, state: joined)
    }

    /// Both send all their statements, then the one that has the current key sends it.
    mutating func meet(_ other: inout Member) throws {
        let (left, right) = (state.roster.ordered, other.state.roster.ordered)
        state = try state.merging(right).state
        other.state = try other.state.merging(left).state
        if let held = state.keyToHandOver(to: other.id) {
            other.state = try other.state.accepting(held.accountKey, now: Self.start)
        } else if let held = other.state.keyToHandOver(to: id) {
            state = try state.accepting(held.accountKey, now: Self.start)
        }
    }
}
