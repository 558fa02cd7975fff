import HandoffDaemon
import HandoffDiscovery
import LoopIO
import Testing

@Suite struct JoinTargetsTests {
    private let start = LoopInstant(nanoseconds: 1_000_000_000)
    private let place = [SocketAddress(.loopbackIPv4, port: 1)]
    private var targets = JoinTargets(limits: PairingLimits())

    private func service(_ name: String, _ text: [String]? = ["v=1"]) -> DiscoveredService {
        DiscoveredService(instance: name, text: text.map { $0.map { Array($0.utf8) } }, port: 1, addresses: place)
    }

    private func failure(_ reason: PairingFailure.Reason) throws -> PairingFailure {
        try #require(PairingFailure.ofJoiner.first { $0.reason == reason })
    }

    @Test mutating func nobodyIsCalledTwiceAtOnce() {
        targets.found(service("a"), now: start)
        #expect(targets.next(now: start)?.instance == "a")
        targets.ended("a", .cut, now: start)
        #expect(targets.next(now: start) == nil)
        #expect(targets.next(now: start.advanced(by: .milliseconds(50)))?.instance == "a")
    }

    @Test mutating func whoeverWasNotTriedGoesFirst() {
        targets.found(service("a"), now: start)
        targets.ended("a", .cut, now: start)
        targets.found(service("b"), now: start)
        #expect(targets.next(now: start.advanced(by: .seconds(1)))?.instance == "b")
    }

    @Test mutating func aRecordWithoutTextOrAddressesIsAwaited() {
        targets.found(service("a", nil), now: start)
        targets.found(DiscoveredService(instance: "b", text: [Array("v=1".utf8)]), now: start)
        #expect(targets.isEmpty)
    }

    @Test(arguments: [["v=2"], [], ["v=1", "v=2"], ["v=10"]])
    mutating func anotherVersionIsNotCalled(_ text: [String]) {
        targets.found(service("a", text), now: start)
        #expect(targets.next(now: start) == nil)
        #expect(targets.areOver)
        #expect(targets.failure.reason == .versionsDiffer)
    }

    @Test mutating func busyOnesAreLeftAloneForSoLong() {
        targets.found(service("a"), now: start)
        targets.ended("a", .busy(.seconds(8)), now: start)
        #expect(targets.nextTime == start.advanced(by: .seconds(8)))
        #expect(targets.failure.reason == .busy)
    }

    @Test mutating func silenceIsBelievedInTheEnd() {
        targets.found(service("a"), now: start)
        for _ in 0..<JoinTargets.mostSilences {
            #expect(!targets.areOver)
            targets.ended("a", .silent, now: start)
        }
        #expect(targets.areOver)
        #expect(targets.failure.reason == .unreachable)
    }

    @Test mutating func whoWasCutIsNotSilent() {
        targets.found(service("a"), now: start)
        for _ in 0..<100 { targets.ended("a", .cut, now: start) }
        #expect(!targets.areOver)
    }

    @Test mutating func fiveInvitersGetAGuessAtMost() throws {
        let wrong = try failure(.wrongCode)
        for number in 0..<9 { targets.found(service("\(number)"), now: start) }
        var called = 0
        while let next = targets.next(now: start) {
            called += 1
            targets.ended(next.instance, .over(wrong), now: start)
        }
        #expect(called == JoinTargets.most)
        #expect(targets.areOver)
        #expect(targets.failure == wrong)
    }

    @Test mutating func madeUpNamesDoNotGrowMemory() {
        for number in 0..<1000 { targets.found(service("\(number)"), now: start) }
        #expect(targets.places.count == PairingLimits().instances)
    }

    @Test mutating func whatTellsMostIsReported() throws {
        targets.found(service("a"), now: start)
        targets.found(service("b"), now: start)
        targets.found(service("c"), now: start)
        targets.ended("a", .over(try failure(.windowClosed)), now: start)
        targets.ended("b", .over(try failure(.wrongCode)), now: start)
        targets.ended("c", .silent, now: start)
        #expect(targets.failure.reason == .wrongCode)
    }
}
