import Testing

@testable import HandoffAccount

/// The periods that a reader accepts as fresh, for any clock.
@Suite struct FreshnessTests {
    private static let clocks: [Int64] = [
        1_800_000_000, 1_800_000_299, 0, -1, -300, -301, -86_400 * 365 * 10, 300 * 0x1_0000_0000, .min, .max,
    ]

    @Test(arguments: clocks.dropLast(2)) func `a record is fresh for five to ten minutes`(clock: Int64) {
        let sealed = Period(unixSeconds: clock)
        #expect(sealed.validity(at: clock) != nil && sealed.validity(at: clock + 300) != nil)
        #expect(sealed.validity(at: clock + 600) == nil)
        #expect(sealed.validity(at: clock - 300) != nil && sealed.validity(at: clock - 600) == nil)
        // Exact to the second.
        let left = sealed.validity(at: clock) ?? 0
        #expect((301...600).contains(left))
        #expect(sealed.validity(at: clock + left - 1) == 1 && sealed.validity(at: clock + left) == nil)
        #expect(Period(unixSeconds: clock).accepted.contains(Period(unixSeconds: clock + 300)))
    }

    @Test(arguments: clocks) func `a period of another day is not fresh`(clock: Int64) {
        for days: Int64 in [2, 3650, 36500] {
            let (other, overflow) = clock.subtractingReportingOverflow(days * 86_400)
            if !overflow { #expect(Period(unixSeconds: other).validity(at: clock) == nil) }
        }
    }

    @Test func `periods before 1970 are numbered down`() {
        let numbers: [UInt32] = [-301, -300, -1, 0, 299, 300].map { Period(unixSeconds: $0).number }
        #expect(numbers == [.max - 1, .max, .max, 0, 0, 1])
        #expect(Period(number: 0).accepted.map(\.number) == [.max, 0, 1])
        #expect(Period(number: .max).validity(at: 0) == 300)
    }
}
