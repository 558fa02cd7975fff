import HandoffDesktopService
import LoopIO
import Testing

struct AllowanceTests {
    @Test func `so often at once, and again when the first counts no more`() {
        var allowance = Allowance(most: 2, within: .seconds(10))
        let start = LoopInstant(nanoseconds: 1_000_000_000)
        let taken = [0, 5, 9, 10, 14, 15].map { allowance.take(now: start.advanced(by: .seconds($0))) }
        #expect(taken == [true, true, false, true, false, true])
    }
}
