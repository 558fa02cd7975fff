import HandoffDaemon
import HandoffModel
import LoopIO
import Testing

/// Which local activities are copied for other devices, and when.
@Suite struct KeepingMachineTests {
    private var machine = KeepingMachine()
    private var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    private let limit = 2_000

    private func candidate(
        _ number: UInt8, changes: UInt64 = 0, staysAfterEnd: Bool = false, isSent: Bool = false,
        handle: UInt8? = nil
    ) throws -> KeepingMachine.Candidate {
        KeepingMachine.Candidate(
            offer: id(number), handle: id(handle ?? 100 + number), app: "org.example.Editor",
            type: try #require(ActivityType("org.example.note")), changes: changes, staysAfterEnd: staysAfterEnd,
            isSent: isSent)
    }

    private func id(_ number: UInt8) -> ActivityID {
        ActivityID(checked: [UInt8](repeating: number, count: ActivityID.byteCount))
    }

    /// The size of one copy.
    private func one(_ bytes: Int) -> KeepingMachine.Size { KeepingMachine.Size(copies: 1, bytes: bytes) }

    /// Reviews these candidates, most recent first, and copies what is then pending.
    private mutating func copy(_ candidates: [KeepingMachine.Candidate], bytes: Int = 100) {
        _ = machine.review(candidates, limit: limit, now: now)
        for offer in machine.pending(at: now) { machine.handled(offer, size: one(bytes), at: now) }
    }

    @Test mutating func `an activity is copied after the interval, once`() throws {
        #expect(machine.nextDeadline == nil)
        #expect(machine.review([try candidate(1)], limit: limit, now: now) == false)
        #expect(machine.nextDeadline == now + KeepingMachine.interval)
        #expect(machine.due(at: now).isEmpty && machine.pending(at: now) == [id(1)])
        now = now + KeepingMachine.interval
        #expect(machine.due(at: now) == [id(1)])
        #expect(machine.activities.isEmpty)
        machine.handled(id(1), size: one(100), at: now)
        #expect(machine.activities == [id(1)])
        #expect(machine.nextDeadline == nil && machine.pending(at: now).isEmpty)
        #expect(machine.review([try candidate(1)], limit: limit, now: now) == false)
        #expect(machine.nextDeadline == nil)
    }

    @Test mutating func `further changes do not delay the copy`() throws {
        copy([try candidate(1)])
        _ = machine.review([try candidate(1, changes: 1)], limit: limit, now: now)
        _ = machine.review([try candidate(1, changes: 2)], limit: limit, now: now + .seconds(20))
        #expect(machine.nextDeadline == now + KeepingMachine.interval)
        #expect(machine.activities == [id(1)], "the former copy stays until then")
        machine.handled(id(1), size: one(100), at: now)
        #expect(machine.review([try candidate(1, changes: 2)], limit: limit, now: now) == false)
        #expect(machine.pending(at: now).isEmpty)
    }

    @Test mutating func `an old copy is replaced before sleep, and one whose lifetime is over without sleep`() throws {
        copy([try candidate(1), try candidate(2, staysAfterEnd: true)])
        _ = machine.review([try candidate(1)], limit: limit, now: now)
        now = now + KeepingMachine.refreshAge - .seconds(1)
        #expect(machine.pending(at: now).isEmpty)
        now = now + .seconds(1)
        #expect(machine.pending(at: now) == [id(1)], "not the activity that is closed")
        _ = machine.review([try candidate(1)], limit: limit, now: now)
        #expect(machine.nextDeadline == nil, "an unchanged activity causes no wake-up")
        now = now + .seconds(86_400)
        _ = machine.review([try candidate(1)], limit: limit, now: now)
        #expect(machine.nextDeadline == now + KeepingMachine.interval)
    }

    @Test mutating func `after a change of the clock, the copies of what is on offer are made again`() throws {
        copy([try candidate(1), try candidate(2, staysAfterEnd: true)])
        _ = machine.review([try candidate(1)], limit: limit, now: now)
        machine.renew(now: now)
        #expect(machine.nextDeadline == now + KeepingMachine.interval)
        #expect(machine.pending(at: now) == [id(1)], "not the activity that is closed")
        #expect(machine.activities == [id(1), id(2)])
    }

    @Test mutating func `the copy of a new offer replaces that of the former offer of the activity`() throws {
        copy([try candidate(1, staysAfterEnd: true)])
        _ = machine.review([try candidate(2, staysAfterEnd: true, handle: 101)], limit: limit, now: now)
        #expect(machine.activities == [id(1)], "until the new copy exists")
        machine.handled(id(2), size: one(100), at: now)
        #expect(machine.activities == [id(2)])
    }

    @Test mutating func `the end of an activity ends its copy unless it stays`() throws {
        copy([try candidate(1), try candidate(2, staysAfterEnd: true)])
        #expect(machine.review([], limit: limit, now: now) == true)
        #expect(machine.activities == [id(2)] && machine.hasClosed)
        #expect(machine.review([], limit: limit, now: now) == false)
        #expect(
            machine.review([try candidate(2, staysAfterEnd: true)], limit: limit, now: now) == true,
            "it is on offer again")
        #expect(machine.review([], limit: limit, now: now, mayStay: { _ in false }) == true)
        #expect(machine.activities.isEmpty)
    }

    @Test mutating func `an activity that ends before its copy leaves nothing`() throws {
        _ = machine.review([try candidate(1, staysAfterEnd: true)], limit: limit, now: now)
        #expect(machine.review([], limit: limit, now: now) == false)
        #expect(machine.pending(at: now).isEmpty && machine.nextDeadline == nil && machine.activities.isEmpty)
        machine.handled(id(1), size: one(100), at: now)
        #expect(machine.activities.isEmpty)
    }

    @Test mutating func `the most recent activities come first, and no more than the maximum are copied`() throws {
        var candidates: [KeepingMachine.Candidate] = []
        for number in 1...12 { candidates.append(try candidate(UInt8(number))) }
        copy(candidates)
        #expect(machine.activities == (1...8).map { id($0) })
        copy(candidates.reversed())
        #expect(machine.activities == (5...12).reversed().map { id($0) })
    }

    @Test mutating func `activities that have ended yield to those on offer`() throws {
        copy([try candidate(20, staysAfterEnd: true), try candidate(21, staysAfterEnd: true)])
        copy([try candidate(20, staysAfterEnd: true)])
        copy([])
        #expect(Set(machine.activities) == [id(20), id(21)])
        var candidates: [KeepingMachine.Candidate] = []
        for number in 1...7 { candidates.append(try candidate(UInt8(number))) }
        copy(candidates)
        #expect(machine.activities.count == 8 && machine.activities.contains(id(20)))
        candidates.append(try candidate(8))
        copy(candidates)
        #expect(Set(machine.activities) == Set((1...8).map { id($0) }))
    }

    @Test mutating func `the oldest copies that do not fit are dropped, and not made again`() throws {
        let candidates = [try candidate(1), try candidate(2), try candidate(3)]
        copy(candidates, bytes: 900)
        #expect(machine.activities == [id(1), id(2)])
        #expect(machine.pending(at: now).isEmpty)
        #expect(machine.review(candidates, limit: limit, now: now) == false)
        #expect(machine.pending(at: now).isEmpty)
        // One that has become smaller fits.
        _ = machine.review([try candidate(1), try candidate(2), try candidate(3, changes: 1)], limit: limit, now: now)
        machine.handled(id(3), size: one(100), at: now)
        #expect(machine.activities == [id(1), id(2), id(3)])
    }

    @Test mutating func `items that were sent come first, the oldest of them before the others`() throws {
        let (first, second) = (try candidate(1, isSent: true), try candidate(2, isSent: true))
        var others: [KeepingMachine.Candidate] = []
        for number in 11...18 { others.append(try candidate(UInt8(number))) }
        copy(others)
        #expect(machine.activities.count == 8)
        _ = machine.review([first] + others, limit: limit, now: now)
        machine.handled(id(1), size: KeepingMachine.Size(copies: 4, bytes: 1_500), at: now)
        #expect(Set(machine.activities) == Set([1, 11, 12, 13, 14].map { id($0) }))
        #expect(machine.copies(of: id(1)) == 4 && machine.copies(of: id(11)) == 1 && machine.copies(of: id(15)) == 0)
        // A later item does not displace an earlier one.
        _ = machine.review([second, first] + others, limit: limit, now: now)
        machine.handled(id(2), size: KeepingMachine.Size(copies: 2, bytes: 600), at: now)
        #expect(machine.activities.contains(id(1)) && !machine.activities.contains(id(2)))
        // What was displaced is copied again once there is room.
        #expect(machine.review(others, limit: limit, now: now) == true)
        #expect(Set(machine.pending(at: now)) == Set((15...18).map { id(UInt8($0)) }))
        for offer in machine.pending(at: now) { machine.handled(offer, size: one(100), at: now) }
        #expect(machine.activities.count == 8)
    }

    @Test mutating func `a smaller share of a larger account displaces copies`() throws {
        let candidates = [try candidate(1), try candidate(2)]
        copy(candidates, bytes: 900)
        #expect(machine.review(candidates, limit: 1_000, now: now) == true)
        #expect(machine.activities == [id(1)] && machine.pending(at: now).isEmpty)
        #expect(machine.review(candidates, limit: limit, now: now) == false)
        #expect(machine.pending(at: now) == [id(2)])
    }

    @Test mutating func `a state that cannot be copied removes the former copy, and is not tried again`() throws {
        copy([try candidate(1)])
        _ = machine.review([try candidate(1, changes: 1)], limit: limit, now: now)
        machine.handled(id(1), size: nil, at: now)
        #expect(machine.activities.isEmpty && machine.nextDeadline == nil)
        #expect(machine.review([try candidate(1, changes: 1)], limit: limit, now: now) == false)
        #expect(machine.nextDeadline == nil)
        _ = machine.review([try candidate(1, changes: 2)], limit: limit, now: now)
        #expect(machine.pending(at: now) == [id(1)])
    }

    @Test mutating func `copies are withdrawn by the owner's handle, by the offer, and all together`() throws {
        copy([try candidate(1, staysAfterEnd: true), try candidate(2), try candidate(3)])
        #expect(machine.withdraw(id(101)) == true)
        #expect(machine.withdraw(id(101)) == false)
        #expect(machine.withdrawOffer(id(2)) == true)
        #expect(machine.withdrawOffer(id(2)) == false)
        #expect(machine.activities == [id(3)])
        machine.withdrawAll()
        #expect(machine.activities.isEmpty && machine.pending(at: now).isEmpty)
        _ = machine.review([try candidate(4)], limit: limit, now: now)
        #expect(machine.withdraw(id(104)) == false, "there was no copy")
        #expect(machine.pending(at: now).isEmpty)
    }

    @Test mutating func `the last declaration decides whether a copy stays`() throws {
        copy([try candidate(1, staysAfterEnd: true)])
        _ = machine.review([try candidate(1)], limit: limit, now: now)
        #expect(machine.review([], limit: limit, now: now) == true)
        #expect(machine.activities.isEmpty)
    }
}
