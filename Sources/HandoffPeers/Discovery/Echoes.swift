import HandoffAccount
package import HandoffModel

/// The proof, for devices whose clocks differ, that a record is fresh: it echoes the salt of a
/// record of its reader. Plain values.
///
/// A salt is random and was unknown before its record was sealed, so a record that echoes it is
/// younger.
package struct Echoes {
    /// The time for which an echo of a salt counts after its record was sealed, and for which a
    /// salt is echoed. Records are sealed again every 4 minutes, or every 8 to save power.
    package static let lifetime = Duration.seconds(600)
    /// The maximum number of own salts that are remembered: more than are used while the record of
    /// another device is in transit.
    package static let maxOwn = 32

    private struct Salt {
        let bytes: [UInt8]
        let expires: MonotonicInstant
    }

    /// Salts of the records that this device has sealed, newest last.
    private var own: [Salt] = []
    /// Salts of records that were not fresh by this device's clock, newest last.
    private var foreign: [PairwiseSecret: [Salt]] = [:]

    package init() {}

    /// Notes the salt of a record of this device.
    package mutating func sealed(_ salt: [UInt8], at now: MonotonicInstant) {
        own.append(Salt(bytes: salt, expires: now.advanced(by: Self.lifetime)))
        own.removeFirst(max(0, own.count - Self.maxOwn))
    }

    /// Returns the salts whose echoes count.
    package func ownSalts(at now: MonotonicInstant) -> [[UInt8]] {
        own.filter { now < $0.expires }.map(\.bytes)
    }

    /// Returns the time until which an echo of a salt counts; nil if it does not.
    package func expiry(of salt: [UInt8]) -> MonotonicInstant? {
        own.last { $0.bytes == salt }?.expires
    }

    /// Notes the salt of a record that was not fresh by this device's clock, in order to echo it.
    /// Of too many salts, the oldest one is dropped.
    ///
    /// - Returns: true if the salt is new.
    @discardableResult
    package mutating func note(_ salt: [UInt8], of secret: PairwiseSecret, at now: MonotonicInstant) -> Bool {
        var salts = foreign[secret, default: []].filter { now < $0.expires }
        let isNew = !salts.contains { $0.bytes == salt }
        if isNew { salts.append(Salt(bytes: salt, expires: now.advanced(by: Self.lifetime))) }
        salts.removeFirst(max(0, salts.count - Marks.maxEchoes))
        foreign[secret] = salts
        return isNew
    }

    /// Drops the salts of a party whose clock agrees with this device's.
    package mutating func forget(_ secret: PairwiseSecret) {
        foreign[secret] = nil
    }

    /// Drops the salts of all parties but these.
    package mutating func retain(where isKept: (PairwiseSecret) -> Bool) {
        foreign = foreign.filter { isKept($0.key) }
    }

    /// Returns the salts that are echoed to each party, newest first.
    package func salts(at now: MonotonicInstant) -> [(secret: PairwiseSecret, salts: [[UInt8]])] {
        foreign.map { secret, salts in
            (secret, salts.filter { now < $0.expires }.reversed().map(\.bytes))
        }
    }
}
