/// The five minutes in which a record was sealed, by the wall clock of its writer. The records of devices whose clocks agree are
/// shown to be fresh by it alone.
package struct Period: Hashable, Sendable {
    /// Seconds of one period. A record that is two periods old or older is refused: after 5 to 10 minutes, more or less by the
    /// difference of the clocks.
    package static let seconds: Int64 = 300

    /// Number of the period, modulo 2^32.
    package let number: UInt32

    /// A period as it is written in a record.
    package init(number: UInt32) {
        self.number = number
    }

    /// The period of a wall clock, which may be set to a time before 1970.
    package init(unixSeconds: Int64) {
        number = UInt32(truncatingIfNeeded: Self.floor(unixSeconds))
    }

    /// The periods that this one's reader takes for fresh: the one before, itself, and the next one.
    package var accepted: [Period] { [-1, 0, 1].map { Period(number: number &+ UInt32(bitPattern: $0)) } }

    /// For how many seconds a reader whose clock shows `unixSeconds` takes this period for fresh; nil if it does not.
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

/// The proof that a mark was not copied from an old record.
package enum Freshness: Hashable, Sendable {
    /// The period of the writer's clock.
    case period(Period)

    /// The salt of a record that the reader has sealed lately, in the writer's place of this number, 1 to 4: it needs no clock.
    case echo([UInt8], number: Int)
}
