import Glibc
import HandoffAccount
import HandoffCrypto
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffTransport

/// Calls to devices, with real sockets. Time advances only when a test advances it.
@Suite(.timeLimit(.minutes(5))) struct DialerTests {
    private let fixture: TransportFixture

    init() throws {
        fixture = try TransportFixture()
    }

    @Test func `after a refusal the next address is tried immediately`() throws {
        let (address, listener) = try listeningDevice()
        let closed = try ClosedPort()
        let outcome = try dial(fixture.target([closed.address, address]))
        #expect(try outcome.get().remoteAddress == address)
        withExtendedLifetime((listener, closed)) {}
    }

    @Test func `a silent address delays the next one only by the head start`() throws {
        let (address, listener) = try listeningDevice()
        let silent = try SilentHost(fixture)
        var outcome: Result<PeerConnection, DialError>?
        let call = try fixture.dialer().dial(fixture.target([silent.address, address])) { [fixture] in
            outcome = $0
            fixture.note("dialed")
        }
        try fixture.run(until: "silent 0 connected")
        fixture.clock.advance(by: .milliseconds(49))
        try fixture.settle()
        #expect(outcome == nil)
        #expect(!fixture.events.contains("let in"))
        fixture.clock.advance(by: .milliseconds(1))
        try fixture.run(until: "dialed", "silent 0 end")
        #expect(try outcome?.get().remoteAddress == address, "and the silent attempt is cancelled")
        withExtendedLifetime((listener, call)) {}
    }

    @Test func `an address that becomes known during a call is tried immediately`() throws {
        let (address, listener) = try listeningDevice()
        let silent = try SilentHost(fixture)
        var outcome: Result<PeerConnection, DialError>?
        let call = try fixture.dialer().dial(fixture.target([silent.address])) { [fixture] in
            outcome = $0
            fixture.note("dialed")
        }
        try fixture.run(until: "silent 0 read")
        call.add(fixture.target([silent.address, address]))
        try fixture.run(until: "dialed", "silent 0 end")
        #expect(try outcome?.get().remoteAddress == address, "without a delay")
        #expect(silent.accepted.count == 1, "an address is not tried twice")
        call.add(fixture.target([silent.address]))
        try fixture.settle()
        #expect(silent.accepted.count == 1, "a call that has ended tries no address")
        withExtendedLifetime(listener) {}
    }

    @Test func `an address that becomes known as the last one fails is tried, too`() throws {
        let (address, listener) = try listeningDevice()
        var outcome: Result<PeerConnection, DialError>?
        // Without an address the call fails in the next turn.
        let call = try fixture.dialer().dial(fixture.target([])) { [fixture] in
            outcome = $0
            fixture.note("dialed")
        }
        call.add(fixture.target([address]))
        try fixture.run(until: "dialed")
        #expect(try outcome?.get().remoteAddress == address)
        withExtendedLifetime((listener, call)) {}
    }

    @Test func `a call limits the number of addresses`() throws {
        let silent = try SilentHost(fixture)
        var limits = TransportLimits()
        limits.maxAttemptsPerAddress = 100
        let call = try fixture.dialer(limits).dial(fixture.target([silent.address])) { _ in
            Issue.record("it ended")
        }
        try fixture.run(until: "silent 0 read")
        let others = try (0..<30).map { _ in try SilentHost(fixture) }
        for other in others { call.add(fixture.target([other.address])) }
        try fixture.settle()
        #expect(others.reduce(0) { $0 + $1.accepted.count } == 15)
        call.cancel()
    }

    @Test func `a call limits the number of addresses of its first target, and tries none of them twice`() throws {
        let closed = try ClosedPort()
        let addresses = try (1...20).map {
            SocketAddress(try #require(IPAddress(bytes: [127, 0, 0, $0])), port: closed.address.port)
        }
        guard case .failure(let error) = try dial(fixture.target([addresses[0]] + addresses)) else {
            Issue.record("a closed address was connected")
            return
        }
        #expect(error.failures.map(\.address) == Array(addresses.prefix(16)))
        withExtendedLifetime(closed) {}
    }

    @Test func `a device seems to be asleep if an expected reply is missing`() throws {
        let address = try ClosedPort().address
        func isSilence(_ causes: DialError.Cause...) -> Bool {
            DialError(failures: causes.map { DialError.Failure(address: address, cause: $0) }).isSilence
        }
        let noNetwork = DialError.Cause.connect(Errno(rawValue: ENETUNREACH))
        #expect(isSilence(.timedOut(.connecting)))
        #expect(isSilence(.end(.timedOut), .connect(Errno(rawValue: EHOSTUNREACH)), noNetwork))
        #expect(!isSilence())
        #expect(!isSilence(noNetwork))
        #expect(!isSilence(.timedOut(.connecting), .connect(.connectionRefused)), "the machine is running")
        #expect(!isSilence(.timedOut(.handshake), .end(.refusedAtGate)))
    }

    @Test func `every failure is described with its address`() throws {
        let (address, listener) = try listeningDevice()
        let closed = try ClosedPort()
        var target = fixture.target([closed.address, address])
        target.token = { _ in [UInt8](repeating: 0, count: 32) }
        guard case .failure(let error) = try dial(target) else {
            Issue.record("a wrong token was accepted")
            return
        }
        #expect(
            error.failures == [
                DialError.Failure(address: closed.address, cause: .connect(.connectionRefused)),
                DialError.Failure(address: address, cause: .end(.refusedAtGate)),
            ])
        #expect(
            error.description == """
                \(closed.address): connection refused; \(address): the other side closed the connection without sending anything
                """)
        withExtendedLifetime((listener, closed)) {}
    }

    @Test func `a call with a prepared session accepts only its own target`() throws {
        let (address, listener) = try listeningDevice()
        let dialer = try fixture.dialer()
        let target = fixture.target([address])
        var other = target
        other.accepts = { _ in false }
        var outcomes: [Result<PeerConnection, DialError>] = []
        for target in [target, other, target] {
            let call = dialer.dial(target) { [fixture] in
                outcomes.append($0)
                fixture.note("dialed \(outcomes.count)")
            }
            try fixture.run(until: "dialed \(outcomes.count + 1)")
            try fixture.settle()  // the next call's session is prepared
            withExtendedLifetime(call) {}
        }
        #expect(outcomes.map { (try? $0.get()) != nil } == [true, false, true])
        withExtendedLifetime(listener) {}
    }

    @Test func `a device other than the target is rejected`() throws {
        let (address, listener) = try listeningDevice()
        var target = fixture.target([address])
        target.accepts = { _ in false }
        guard case .failure(let error) = try dial(target) else {
            Issue.record("another device was accepted")
            return
        }
        #expect(error.failures == [DialError.Failure(address: address, cause: .end(.tls(.keyNotAccepted)))])
        withExtendedLifetime(listener) {}
    }

    @Test func `new records are created until there is a token for one`() throws {
        let (address, listener) = try listeningDevice()
        var target = fixture.target([address])
        var records: Set<[UInt8]> = []
        let token = target.token
        target.token = { record in
            records.insert(record)
            return records.count < 3 ? nil : token(record)
        }
        #expect(try dial(target).get().remoteAddress == address)
        #expect(records.count == 3)
        withExtendedLifetime(listener) {}
    }

    @Test func `a missing address is an error that is reported in a later turn`() throws {
        var isSaid = false
        let call = try fixture.dialer().dial(fixture.target([])) { [fixture] result in
            isSaid = true
            if case .failure(let error) = result { fixture.note(error.description) }
        }
        #expect(!isSaid)
        try fixture.run(until: "no address known")
        call.cancel()
    }

    @Test func `a call ends at its deadline`() throws {
        let silent = try SilentHost(fixture)
        var outcome: Result<PeerConnection, DialError>?
        var limits = TransportLimits()
        limits.handshakeTimeout = .seconds(60)
        let call = try fixture.dialer(limits).dial(fixture.target([silent.address])) { [fixture] in
            outcome = $0
            fixture.note("dialed")
        }
        try fixture.run(until: "silent 0 read")
        fixture.clock.advance(by: .seconds(5))
        try fixture.run(until: "dialed", "silent 0 end")
        guard case .failure(let error) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(error.failures == [DialError.Failure(address: silent.address, cause: .timedOut(.handshake))])
        call.cancel()
    }

    @Test func `a handshake has its own timeout`() throws {
        let silent = try SilentHost(fixture)
        var error: DialError?
        let call = try fixture.dialer().dial(fixture.target([silent.address])) { [fixture] result in
            if case .failure(let failure) = result { error = failure }
            fixture.note("dialed")
        }
        try fixture.run(until: "silent 0 read")
        fixture.clock.advance(by: .seconds(3))
        try fixture.run(until: "dialed")
        #expect(
            error?.failures == [DialError.Failure(address: silent.address, cause: .end(.timedOut))])
        call.cancel()
    }

    @Test func `fifth attempt at one address waits for a slot`() throws {
        let silent = try SilentHost(fixture)
        let dialer = try fixture.dialer()
        var calls = (0..<6).map { number in
            dialer.dial(fixture.target([silent.address])) { _ in Issue.record("call \(number) ended") }
        }
        try fixture.run(until: "silent 3 read")
        try fixture.settle()
        #expect(silent.accepted.count == 4)
        calls[0].cancel()
        try fixture.run(until: "silent 4 read")
        try fixture.settle()
        #expect(silent.accepted.count == 5)
        calls.remove(at: 5).cancel()
        calls[1].cancel()
        try fixture.settle()
        #expect(silent.accepted.count == 5, "a cancelled attempt gets no slot")
        for call in calls { call.cancel() }
    }

    @Test func `a slot is released as soon as the server replies`() throws {
        var limits = TransportLimits()
        limits.maxAttemptsPerAddress = 1
        // The start of a record whose rest never arrives. The gate is passed, but TLS is not
        // complete.
        let host = try SilentHost(fixture, answer: [22, 3, 3, 0, 100])
        let dialer = try fixture.dialer(limits)
        let calls = (0..<3).map { number in
            dialer.dial(fixture.target([host.address])) { _ in Issue.record("call \(number) ended") }
        }
        try fixture.run(until: "silent 0 read", "silent 1 read", "silent 2 read")
        for call in calls { call.cancel() }
    }

    @Test(arguments: [true, false])
    func `a cancelled call reports nothing`(isDropped: Bool) throws {
        let silent = try SilentHost(fixture)
        var call: Dial? = try fixture.dialer().dial(fixture.target([silent.address])) { _ in
            Issue.record("a cancelled call ended")
        }
        try fixture.run(until: "silent 0 read")
        if isDropped { call = nil } else { call?.cancel() }
        try fixture.run(until: "silent 0 end")
        fixture.clock.advance(by: .seconds(10))
        try fixture.settle()
        withExtendedLifetime(call) {}
    }

    private func dial(_ target: DialTarget) throws -> Result<PeerConnection, DialError> {
        var outcome: Result<PeerConnection, DialError>?
        let call = try fixture.dialer().dial(target) { [fixture] in
            outcome = $0
            fixture.note("dialed")
        }
        try fixture.run(until: "dialed")
        call.cancel()
        return try #require(outcome)
    }

    /// Returns a listening device with the target's key. Its connections exist as long as the
    /// returned listener.
    private func listeningDevice() throws -> (address: SocketAddress, listener: GateListener) {
        let listener = try fixture.listen()
        var kept: [PeerConnection] = []
        fixture.onConnection = { [fixture] connection in
            kept.append(connection)
            fixture.note("let in")
        }
        return (try #require(listener.localAddress), listener)
    }
}
