import HandoffAccount
package import Timing

/// The proof, for devices whose clocks disagree, that a record is fresh: it echoes the salt of a record of its reader. Plain values.
///
/// A salt is random and was not known before its record was sealed, so a record that echoes it is younger.
package struct Echoes {
    /// For how long an echo of a salt counts after that salt's record was sealed, and for how long a salt is echoed. Records are sealed
    /// again every 4 minutes, or every 8 to save power.
    package static let lifetime = Duration.seconds(600)
    /// Salts of this device that are remembered: more than it seals while the record of another device is on its way.
    package static let maxOwn = 32

    private struct Salt {
        let bytes: [UInt8]
        let expires: MonotonicInstant
    }

    /// Of the records that this device has sealed, the newest last.
    private var own: [Salt] = []
    /// Of records that were not fresh by this device's clock, the newest last.
    private var foreign: [PairwiseSecret: [Salt]] = [:]

    package init() {}

    /// This device has sealed a record.
    package mutating func sealed(_ salt: [UInt8], at now: MonotonicInstant) {
        own.append(Salt(bytes: salt, expires: now.advanced(by: Self.lifetime)))
        own.removeFirst(max(0, own.count - Self.maxOwn))
    }

    /// The salts of which an echo counts.
    package func ownSalts(at now: MonotonicInstant) -> [[UInt8]] {
        own.filter { now < $0.expires }.map(\.bytes)
    }

    /// Until when an echo of a salt counts; nil for one that does not.
    package func expiry(of salt: [UInt8]) -> MonotonicInstant? {
        own.last { $0.bytes == salt }?.expires
    }

    /// A record of a party was not fresh by this device's clock: its salt is echoed. Of too many salts the oldest one is dropped.
    ///
    /// - Returns: whether the salt is a new one.
    @discardableResult
    package mutating func note(_ salt: [UInt8], of secret: PairwiseSecret, at now: MonotonicInstant) -> Bool {
        var salts = foreign[secret, default: []].filter { now < $0.expires }
        let isNew = !salts.contains { $0.bytes == salt }
        if isNew { salts.append(Salt(bytes: salt, expires: now.advanced(by: Self.lifetime))) }
        salts.removeFirst(max(0, salts.count - Marks.maxEchoes))
        foreign[secret] = salts
        return isNew
    }

    /// The clock of a party agrees with this device's: it needs no echo.
    package mutating func forget(_ secret: PairwiseSecret) {
        foreign[secret] = nil
    }

    /// Drops the salts of all parties but these.
    package mutating func retain(where isKept: (PairwiseSecret) -> Bool) {
        foreign = foreign.filter { isKept($0.key) }
    }

    /// The salts that are echoed to each party, the newest first.
    package func salts(at now: MonotonicInstant) -> [(secret: PairwiseSecret, salts: [[UInt8]])] {
        foreign.map { secret, salts in
            (secret, salts.filter { now < $0.expires }.reversed().map(\.bytes))
        }
    }
}
