internal import HandoffCrypto
package import HandoffModel
import HandoffProtocol

/// A new epoch that this device should create, unless the account changes before its turn.
package struct EpochDue: Sendable, Equatable {
    /// Why a new epoch is needed.
    package enum Reason: Sendable, Equatable {
        /// No epoch record is valid, as after two concurrent removals.
        case missing
        /// A device that is no longer a member may have the current key.
        case exposed
        /// A record is in force, but no device has sent its key. Its creator may be offline
        /// permanently.
        case withheld
        /// The current key is more than 30 days old.
        case old
    }

    package let reason: Reason
    /// The wait before checking again. If the epoch is still due then, create it. The wait
    /// grows with the rank of the device among the members, so that usually one member creates the
    /// epoch. Several new epochs are harmless.
    package let after: Duration
}

extension AccountState {
    /// The age in seconds at which an epoch is renewed.
    static let epochLifetime: UInt64 = 30 * 24 * 60 * 60
    /// The range in seconds over which devices spread the renewal.
    static let epochJitter: UInt64 = 3 * 24 * 60 * 60
    /// The wait for the key of the current record before a device creates another epoch.
    package static let keyTimeout = Duration.seconds(30)

    /// Returns whether `device`, which is this device, should create a new epoch, and how long it
    /// should wait for others to do so first.
    ///
    /// Call it after every change of the roster and when the wait ends. Create the epoch if one is
    /// still due then.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, used only for the monthly renewal.
    ///   - keyAwaited: how long this device has waited for the key of the current record with a
    ///     member reachable.
    package func epochDue(for device: DeviceID, now: UInt64, keyAwaited: Duration = .zero) -> EpochDue? {
        // A device without an account key is unknown to the others, and they would not accept its
        // key.
        guard held != nil, let rank = view.rank(of: device) else { return nil }
        let turn = min(Duration.milliseconds(500) * rank, .seconds(10))
        guard let current = view.currentEpoch else { return EpochDue(reason: .missing, after: turn) }
        if current.id == exposedRecord { return EpochDue(reason: .exposed, after: turn) }
        guard let held, held.record == current.id else {
            guard keyAwaited > .zero else { return nil }
            let rest = max(.zero, Self.keyTimeout + turn - keyAwaited)
            return EpochDue(reason: .withheld, after: rest)
        }
        let lifetime = Self.epochLifetime + jitter(of: device, record: current.id)
        guard now > held.since, now - held.since > lifetime else { return nil }
        return EpochDue(reason: .old, after: turn)
    }

    /// The share of ``epochJitter`` for this device and record. It is derived from their ids, so it
    /// need not be stored.
    private func jitter(of device: DeviceID, record: Fingerprint) -> UInt64 {
        let hash = Fingerprint(hashing: device.bytes + record.bytes).bytes
        return hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } % Self.epochJitter
    }
}

/// Tracks how long a new epoch has been due. A plain value; the owner calls ``rest(of:at:)`` at
/// each change of the account and when the wait ends. See `docs/state-machines/account.md`.
package struct EpochTurn: Sendable {
    private var reason: EpochDue.Reason?
    private var since = MonotonicInstant(nanoseconds: 0)

    /// Creates a tracker with no epoch due.
    package init() {}

    /// The remaining wait: zero when this device must create the epoch now, nil while none is due.
    ///
    /// - Parameter due: the current result of `AccountState.epochDue`.
    package mutating func rest(of due: EpochDue?, at now: MonotonicInstant) -> Duration? {
        if due?.reason != reason {
            reason = due?.reason
            since = now
        }
        guard let due else { return nil }
        // `epochDue` already subtracts the time waited for a key, so the wait needs no adjustment
        // here.
        guard due.reason != .withheld else { return due.after }
        return max(.zero, due.after - now.duration(since: since))
    }
}
