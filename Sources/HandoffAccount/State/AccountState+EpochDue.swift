internal import HandoffCrypto
package import HandoffModel

extension AccountState {
    /// Seconds after which an epoch is renewed.
    package static let epochLifetime: UInt64 = 30 * 24 * 60 * 60
    /// Seconds over which devices spread the renewal.
    static let epochJitter: UInt64 = 3 * 24 * 60 * 60
    /// How long a device waits for the key of a record that holds, before it makes another epoch.
    package static let patienceForKey = Duration.seconds(30)

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
            let rest = max(.zero, Self.patienceForKey + turn - keyAwaited)
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
