import HandoffDaemon
import HandoffDiscovery
import HandoffModel
import LoopIO
import Testing

@Suite struct JoinTargetsTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private let place = [SocketAddress(.loopbackIPv4, port: 1)]
    private var targets = JoinTargets(limits: PairingLimits())

    private func service(_ name: String, _ text: [String]? = ["v=1"]) -> DiscoveredService {
        DiscoveredService(instance: name, text: text.map { $0.map { Array($0.utf8) } }, port: 1, addresses: place)
    }

    private func failure(_ reason: PairingFailure.Reason) throws -> PairingFailure {
        try #require(PairingFailure.ofJoiner.first { $0.reason == reason })
    }

    @Test mutating func `an inviter is not called again immediately`() {
        targets.found(service("a"), now: start)
        #expect(targets.next(now: start)?.instance == "a")
        targets.ended("a", .cut, now: start)
        #expect(targets.next(now: start) == nil)
        #expect(targets.next(now: start.advanced(by: .milliseconds(50)))?.instance == "a")
    }

    @Test mutating func `an inviter that has not been tried is called first`() {
        targets.found(service("a"), now: start)
        targets.ended("a", .cut, now: start)
        targets.found(service("b"), now: start)
        #expect(targets.next(now: start.advanced(by: .seconds(1)))?.instance == "b")
    }

    @Test mutating func `a record without text or addresses is awaited`() {
        targets.found(service("a", nil), now: start)
        targets.found(DiscoveredService(instance: "b", text: [Array("v=1".utf8)]), now: start)
        #expect(targets.isEmpty)
    }

    @Test(arguments: [["v=2"], [], ["v=1", "v=2"], ["v=10"]])
    mutating func `another version is not called`(_ text: [String]) {
        targets.found(service("a", text), now: start)
        #expect(targets.next(now: start) == nil)
        #expect(targets.nextTime == nil)
        #expect(targets.failure.reason == .versionsDiffer)
    }

    @Test mutating func `a busy inviter is not called for the requested time`() {
        targets.found(service("a"), now: start)
        targets.ended("a", .busy(.seconds(8)), now: start)
        #expect(targets.nextTime == start.advanced(by: .seconds(8)))
        #expect(targets.failure.reason == .busy)
    }

    @Test mutating func `an inviter that stays silent is given up`() {
        targets.found(service("a"), now: start)
        for _ in 0..<JoinTargets.maxSilentCalls {
            #expect(targets.nextTime != nil)
            targets.ended("a", .silent, now: start)
        }
        #expect(targets.nextTime == nil)
        #expect(targets.failure.reason == .unreachable)
    }

    @Test mutating func `an inviter whose connection is lost is not silent`() {
        targets.found(service("a"), now: start)
        for _ in 0..<100 { targets.ended("a", .cut, now: start) }
        #expect(targets.nextTime != nil)
    }

    @Test(arguments: [true, false]) mutating func `at most five guesses are given`(_ isRefused: Bool) throws {
        let wrong = try failure(.wrongCode)
        for number in 0..<9 { targets.found(service("\(number)"), now: start) }
        var called = 0
        while let next = targets.next(now: start) {
            called += 1
            targets.ended(next.instance, isRefused ? .over(wrong) : .cut, wasGuess: true, now: start)
        }
        #expect(called == JoinTargets.maxGuesses)
        #expect(targets.nextTime == nil)
        #expect(try targets.failure == (isRefused ? wrong : failure(.untrusted)))
    }

    @Test mutating func `an inviter that responds and then drops the connection blocks no other`() throws {
        for number in 0..<40 { targets.found(service("\(number)"), now: start) }
        targets.found(service("right"), now: start)
        var now = start
        var called: [String] = []
        while called.last != "right" {
            // Each of them delays us as long as it can.
            let next = try #require(targets.next(now: now))
            called.append(next.instance)
            now = now.advanced(by: .seconds(5))
            targets.ended(next.instance, .cut, now: now)
        }
        #expect(called.count == 41)
        // They are called in turn again, so that an inviter cut off by others gets as many calls as
        // they do.
        called = []
        for _ in 0..<41 {
            called.append(try #require(targets.next(now: now)).instance)
            now = now.advanced(by: .seconds(5))
            targets.ended(try #require(called.last), .cut, now: now)
        }
        #expect(Set(called).count == 41)
        #expect(targets.failure.message.contains("link"))
    }

    @Test mutating func `made up names do not grow memory`() {
        for number in 0..<1000 { targets.found(service("\(number)"), now: start) }
        #expect(targets.places.count == PairingLimits().instances)
    }

    @Test mutating func `the most informative failure is reported`() throws {
        targets.found(service("a"), now: start)
        targets.found(service("b"), now: start)
        targets.found(service("c"), now: start)
        targets.ended("a", .over(try failure(.windowClosed)), now: start)
        targets.ended("b", .over(try failure(.wrongCode)), now: start)
        targets.ended("c", .silent, now: start)
        #expect(targets.failure.reason == .wrongCode)
    }
}
