internal import HandoffCrypto
package import HandoffModel
import HandoffProtocol
package import Timing

/// That this device should make a new epoch, unless something changes before its turn comes.
package struct EpochDue: Sendable, Equatable {
    /// Why a new epoch is needed.
    package enum Reason: Sendable, Equatable {
        /// No record counts, as after removals that crossed.
        case missing
        /// The key in force may be held by a device that is no member any more.
        case exposed
        /// A record holds, but nobody has handed over its key: its maker may be gone.
        case withheld
        /// The key is in force for more than 30 days.
        case old
    }

    /// Why.
    package let reason: Reason
    /// How long to wait before asking again, and making the epoch if the answer is the same. It grows with the rank of the
    /// device among the members, so that mostly one of them makes the epoch; several do no harm.
    package let after: Duration
}

extension AccountState {
    /// Seconds after which an epoch is renewed.
    package static let epochLifetime: UInt64 = 30 * 24 * 60 * 60
    /// Seconds over which devices spread the renewal.
    static let epochJitter: UInt64 = 3 * 24 * 60 * 60
    /// How long a device waits for the key of a record that holds, before it makes another epoch.
    package static let timeoutForKey = Duration.seconds(30)

    /// Whether `device`, this one, should make a new epoch, and how long it should wait for others to do so first.
    ///
    /// To be asked after every change of the roster, and when the wait is over: then make the epoch if one is still due.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, for the monthly renewal only.
    ///   - keyAwaited: how long this device has been waiting for the key of the record in force, with a member in reach.
    package func epochDue(for device: DeviceID, now: UInt64, keyAwaited: Duration = .zero) -> EpochDue? {
        // A device that has not been given an account key yet is known to nobody, and no other would take its key.
        guard held != nil, let rank = view.rank(of: device) else { return nil }
        let turn = min(Duration.milliseconds(500) * rank, .seconds(10))
        guard let current = view.currentEpoch else { return EpochDue(reason: .missing, after: turn) }
        if current.id == exposedRecord { return EpochDue(reason: .exposed, after: turn) }
        guard let held, held.record == current.id else {
            guard keyAwaited > .zero else { return nil }
            let rest = max(.zero, Self.timeoutForKey + turn - keyAwaited)
            return EpochDue(reason: .withheld, after: rest)
        }
        let lifetime = Self.epochLifetime + jitter(of: device, record: current.id)
        guard now > held.since, now - held.since > lifetime else { return nil }
        return EpochDue(reason: .old, after: turn)
    }

    /// A part of ``epochJitter`` that is the device's own for this record, so that it needs no memory.
    private func jitter(of device: DeviceID, record: Fingerprint) -> UInt64 {
        let hash = Fingerprint(hashing: device.bytes + record.bytes).bytes
        return hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } % Self.epochJitter
    }
}

/// Since when an epoch is due, so that the wait for those whose turn comes first ends. A plain value; the owner asks at each
/// change of the account, and when the wait is over. See `docs/state-machines/account.md`.
package struct EpochTurn: Sendable {
    private var reason: EpochDue.Reason?
    private var since = MonotonicInstant(nanoseconds: 0)

    /// Nothing is due yet.
    package init() {}

    /// What is left of the wait: zero when this device is to make the epoch now, nil while none is due.
    ///
    /// - Parameter due: what `AccountState.epochDue` says now.
    package mutating func rest(of due: EpochDue?, at now: MonotonicInstant) -> Duration? {
        if due?.reason != reason {
            reason = due?.reason
            since = now
        }
        guard let due else { return nil }
        // The wait for a key counts from when the key was first missed, and is shorter each time it is asked for.
        guard due.reason != .withheld else { return due.after }
        return max(.zero, due.after - now.duration(since: since))
    }
}
