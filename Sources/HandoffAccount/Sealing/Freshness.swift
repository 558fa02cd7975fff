/// The five-minute period in which a record was sealed, by its writer's wall clock. If the clocks
/// of two devices agree, the period alone proves that a record is fresh.
package struct Period: Hashable, Sendable {
    /// Length of a period in seconds. A record that is two or more periods old is rejected, which
    /// is after 5 to 10 minutes, plus or minus the difference between the clocks.
    static let seconds: Int64 = 300

    /// The number of the period, modulo 2^32.
    package let number: UInt32

    /// The periods that a reader in this period accepts as fresh: the previous one, itself and the
    /// next one.
    var accepted: [Period] { [-1, 0, 1].map { Period(number: number &+ UInt32(bitPattern: $0)) } }

    /// The number of seconds for which a reader whose clock shows `unixSeconds` still accepts this
    /// period, or nil if it does not.
    package func validity(at unixSeconds: Int64) -> Int64? {
        let distance = Int64(Int32(bitPattern: number &- Period(unixSeconds: unixSeconds).number))
        guard (-1...1).contains(distance) else { return nil }
        let elapsed = unixSeconds - Self.floor(unixSeconds) * Self.seconds
        return (distance + 2) * Self.seconds - elapsed
    }

    private static func floor(_ unixSeconds: Int64) -> Int64 {
        let (quotient, remainder) = unixSeconds.quotientAndRemainder(dividingBy: seconds)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension Period {
    /// Creates the period of a wall-clock time, which may be before 1970.
    package init(unixSeconds: Int64) {
        number = UInt32(truncatingIfNeeded: Self.floor(unixSeconds))
    }
}

/// Proof that a mark was not copied from an old record.
package enum Freshness: Hashable, Sendable {
    /// The period of the writer's clock.
    case period(Period)

    /// The salt of a record that the reader sealed recently, and the number of its place in the
    /// writer's record, 1 to 4. It needs no clock.
    case echo([UInt8], number: Int)
}
