import HandoffDiscovery
import HandoffModel
import Testing

struct AnnouncementCheckTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    private func check(needsEcho: Bool = true, isEstablished: Bool = true, interfaces: Set<UInt32> = [2])
        -> AnnouncementCheck
    {
        var check = AnnouncementCheck(needsEcho: needsEcho)
        check.update(isEstablished: isEstablished, interfaces: interfaces, at: Self.start)
        return check
    }

    @Test func `an announcement that is not received in time is hidden until it is received`() {
        var check = check()
        #expect(!check.isHidden && check.deadline == Self.start + AnnouncementCheck.timeout)
        check.update(isEstablished: true, interfaces: [2], at: Self.start + .milliseconds(4999))
        #expect(!check.isHidden)
        check.update(isEstablished: true, interfaces: [2], at: Self.start + .seconds(5))
        #expect(check.isHidden && check.deadline == nil)
        check.libraryLost()
        #expect(check.isHidden)
        check.echoed(on: 2)
        check.update(isEstablished: true, interfaces: [2], at: Self.start + .seconds(6))
        #expect(!check.isHidden && check.deadline == nil)
    }

    @Test func `one interface of this device is sufficient`() {
        var check = check(interfaces: [2, 3])
        check.echoed(on: 9)
        check.update(isEstablished: true, interfaces: [2, 3], at: Self.start + .seconds(5))
        #expect(check.isHidden)
        check.echoed(on: 3)
        check.update(isEstablished: true, interfaces: [2, 3], at: Self.start + .seconds(5))
        #expect(!check.isHidden)
        // The other interface is unplugged, and then this one.
        check.update(isEstablished: true, interfaces: [2], at: Self.start + .seconds(6))
        #expect(!check.isHidden && check.deadline == Self.start + .seconds(11))
    }

    @Test func `nothing is hidden without an interface`() {
        var check = check(interfaces: [])
        check.update(isEstablished: false, interfaces: [], at: Self.start + .seconds(60))
        #expect(!check.isHidden && check.deadline == nil)
    }

    @Test func `a group that is never established is hidden even if its announcement is received`() {
        for needsEcho in [false, true] {
            var check = check(needsEcho: needsEcho, isEstablished: false)
            check.echoed(on: 2)
            check.update(isEstablished: false, interfaces: [2], at: Self.start + .seconds(5))
            #expect(check.isHidden)
        }
        #expect(check(needsEcho: false).deadline == nil)
    }
}
