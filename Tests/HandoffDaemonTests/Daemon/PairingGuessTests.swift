import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDaemon
import HandoffJSON
import HandoffModel
import HandoffPairing
import HandoffTestSupport
import HandoffTransport
import LoopIO
import Testing

/// Guessing, interception and flooding achieve nothing, and an honest device is admitted. By whole
/// daemons.
@Suite final class PairingGuessTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        desk = try fleet.device("desk")
        couch = try fleet.device("couch")
        _ = try desk.call(.createAccount)
    }

    deinit {
        fleet.end()
    }

    /// Tries a wrong code at the window's address.
    private func guess(_ opened: PairingWindowDescription, _ offset: Int = 1) throws -> String {
        try couch.join(code: try wrongCode(opened.code, offset), address: opened.addresses.first).failure()
    }

    // MARK: - Guessing

    @Test func `a wrong code is counted and the right one works after a pause`() throws {
        let window = try desk.pair(automatic: true)
        let opened = try window.opened()
        #expect(try guess(opened) == "wrongCode")
        #expect(try window.next() == .wrongCode(guessesLeft: 4))
        // The joiner is deferred for the second of the pause, and returns by itself.
        let before = fleet.clock.now
        _ = try couch.join(code: opened.code, address: opened.addresses.first).account()
        #expect(before.duration(to: fleet.clock.now) > .milliseconds(500))
    }

    @Test func `five wrong codes invalidate the code but not the link`() throws {
        let window = try desk.pair(automatic: true)
        let opened = try window.opened()
        for left in [4, 3, 2, 1] {
            #expect(try guess(opened, left) == "wrongCode")
            #expect(try window.next() == .wrongCode(guessesLeft: left))
            fleet.pass(.seconds(8))
        }
        #expect(try guess(opened, 9) == "codeUsed")
        #expect(try window.next() == .codeEnded)
        #expect(try couch.join(code: opened.code, address: opened.addresses.first).failure() == "codeUsed")

        #expect(try couch.join(link: opened.link).account() == desk.status().account)
    }

    /// Opens three windows whose codes are guessed at.
    private func exhaustCodes() throws {
        for _ in 1...3 {
            let window = try desk.pair()
            #expect(try guess(try window.opened()) == "wrongCode")
            window.close()
            try fleet.poll("the window is closed") { fleet.pairingNetwork.stationCount == 0 }
        }
    }

    @Test func `leaving the account grants no further codes`() throws {
        try exhaustCodes()
        let former = try desk.status().device
        _ = try desk.call(.leaveAccount)
        try fleet.poll("the desk has a new identity") { try desk.status().device != former }
        _ = try desk.call(.createAccount)
        #expect(try desk.pair().opened().code == nil)
    }

    @Test func `after three codes with guesses, only the link remains`() throws {
        try exhaustCodes()
        let window = try desk.pair(automatic: true)
        let opened = try window.opened()
        #expect(opened.code == nil)
        let address = try #require(opened.addresses.first)
        #expect(try couch.join(code: "12345678", address: address).failure() == "codeUsed")
        #expect(try couch.join(link: opened.link).account() == desk.status().account)

        // Ten minutes later a code is available again.
        fleet.pass(.seconds(601))
        #expect(try desk.pair().opened().code != nil)
    }

    @Test func `the link of another window is invalid`() throws {
        let former = try desk.pair()
        let old = try former.opened()
        former.close()
        try fleet.poll("the window is closed") { fleet.pairingNetwork.stationCount == 0 }
        let window = try desk.pair()
        let opened = try window.opened()
        // The ports may differ; the secret certainly does.
        let place = try #require(opened.link.split(separator: "/").last)
        let forged = old.link.split(separator: "/").dropLast().joined(separator: "/") + "/" + place
        #expect(try couch.join(link: forged).failure() == "unreachable")
        #expect(window.waiting == 0)
    }

    // MARK: - Other inviters

    @Test(arguments: [true, false]) func `the right inviter is found among others`(_ isForeignFirst: Bool)
        throws
    {
        let neighbour = try fleet.device("neighbour")
        _ = try neighbour.call(.createAccount)
        let order = isForeignFirst ? [neighbour, desk] : [desk, neighbour]
        let windows = try order.map { try $0.pair(automatic: true) }
        let codes = try windows.map { try $0.opened().code }
        let code = isForeignFirst ? codes.last : codes.first
        #expect(try couch.join(code: code ?? nil).account() == desk.status().account)
        #expect(try neighbour.members() == ["neighbour"])
    }

    @Test func `a wrong code is reported once no other inviter has appeared`() throws {
        let window = try desk.pair()
        let code = try window.opened().code
        let join = try couch.join(code: try wrongCode(code))
        #expect(try window.next() == .wrongCode(guessesLeft: 4))
        // The clock does not advance. The refusal may still be in transit, and a joiner without a
        // reply guesses again.
        #expect(try join.failure() == "wrongCode")
        // One guess, however long it has searched.
        #expect(window.waiting == 0)
    }

    @Test func `an inviter that does not know the code is detected`() throws {
        let impostor = try Impostor(fleet)
        let window = try desk.pair()
        let code = try window.opened().code
        let join = try couch.join(code: code, address: impostor.address)
        #expect(try join.failure() == "untrusted")
        #expect(impostor.calls == 1)
        #expect(window.waiting == 0)
    }

    @Test func `an inviter with another protocol is detected`() throws {
        let identity = try TLSIdentity(key: try SigningKey())
        let listener = try PairingListener(
            ports: nil, address: .loopbackIPv4, context: try TLSContext(identity: identity, role: .server),
            on: fleet.loop)
        var connections: [PeerConnection] = []
        listener.onArrival = {
            connections.append($0.connection)
            $0.connection.answer($0.clientHello)
        }
        let join = try couch.join(code: "12345678", address: "127.0.0.1:\(listener.port)")
        #expect(try join.failure() == "versionsDiffer")
    }

    @Test func `a caller with another protocol gets an alert`() throws {
        let window = try desk.pair(automatic: true)
        let opened = try window.opened()
        let context = try TLSContext(identity: TLSIdentity(key: try SigningKey()), role: .client)
        let session = try TLSSession(context: context, accepts: { _ in true })
        let address = try #require(opened.addresses.first.flatMap { SocketAddress(text: $0) })
        let call = RawConnection(to: address, writing: try #require(session.start()), fleet)
        try call.awaitEnd()
        session.receive(call.received)
        #expect(session.step() == .failed(.alert(120)))
        _ = try couch.join(code: opened.code).account()
    }

    // MARK: - Floods

    enum Opening: CaseIterable {
        case nothing
        case webRequest
        case halfARecord
        case wrongToken
        case clientHello
        case garbageInARecord
    }

    @Test(arguments: Opening.allCases) func `an honest joiner is admitted during a flood`(_ opening: Opening) throws {
        let window = try desk.pair()
        let opened = try window.opened()
        let address = try #require(opened.addresses.first.flatMap { SocketAddress(text: $0) })
        let hello = try #require(
            try TLSSession(context: try TLSContext.pairingClient(), accepts: { _ in true }).start())
        let bytes: [UInt8] =
            switch opening {
            case .nothing: []
            case .webRequest: Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            case .halfARecord: Array(hello.prefix(hello.count / 2))
            case .wrongToken: [UInt8](repeating: 7, count: 32) + hello
            case .clientHello: hello
            case .garbageInARecord: [0x16, 3, 1, 0, 200] + [UInt8](repeating: 0xff, count: 200)
            }
        var flood = (0..<40).map { _ in RawConnection(to: address, writing: bytes, fleet) }
        let join = try couch.join(code: opened.code)
        var next = fleet.clock.now
        // For one second, because connections from one address are limited, and the joiner calls
        // eight times in some seconds.
        let end = next.advanced(by: .seconds(1))
        try fleet.run("the confirmation of the couch") {
            if flood.count < 200, (next..<end).contains(fleet.clock.now) {
                next = fleet.clock.now.advanced(by: .milliseconds(10))
                flood += (0..<8).map { _ in RawConnection(to: address, writing: bytes, fleet) }
            }
            return window.waiting > 0
        }
        let device = try window.confirm()
        #expect(device.name == "couch")
        try desk.answer(device, accept: true)
        try window.joined(device)
        _ = try join.account()
        if opening != .clientHello, opening != .garbageInARecord {
            #expect(flood.allSatisfy { $0.received.isEmpty })
        }
    }

    // MARK: - Storing

    @Test func `nothing is handed over if the inviter cannot store it`() throws {
        try #require(desk.blockAccountFile())
        let window = try desk.pair(automatic: true)
        let join = try couch.join(code: try window.opened().code)
        #expect(try window.failure() == "failed")
        #expect(try join.failure() == "failed")
        #expect(try desk.members() == ["desk"])
        #expect(try couch.status().account == nil)
        try #require(desk.unblockAccountFile())
        let again = try desk.pair(automatic: true)
        _ = try couch.join(code: try again.opened().code).account()
        try fleet.settle([desk, couch])
    }

    @Test func `a joiner that cannot store is unfinished and joins later`() throws {
        try #require(couch.blockAccountFile())
        let window = try desk.pair(automatic: true)
        let join = try couch.join(code: try window.opened().code)
        #expect(try window.failure() == "failed")
        #expect(try join.failure() == "failed")
        #expect(try couch.status().account == nil)
        #expect(try desk.members() == ["desk", "couch"])

        try #require(couch.unblockAccountFile())
        let again = try desk.pair(automatic: true)
        _ = try couch.join(code: try again.opened().code).account()
        try fleet.settle([desk, couch])
        for member in [desk, couch] { #expect(try member.deviceList().filter(\.unfinished) == []) }
    }

    @Test func `a removed identity is not admitted`() throws {
        let id = try couch.status().device
        let first = try desk.pair(automatic: true)
        _ = try couch.join(code: try first.opened().code).account()
        try fleet.settle([desk, couch])
        // The couch loses its account but keeps its identity, and is removed meanwhile.
        try couch.stop()
        try couch.forgetAccount()
        try desk.stop()
        try desk.editAccount { try $0.removing(id, keeping: [], by: $1, now: fleet.unixSeconds) }
        try desk.start()
        try couch.start()

        let window = try desk.pair()
        let join = try couch.join(code: try window.opened().code)
        #expect(try join.failure() == "removed")
        #expect(try window.failure() == "removed")
        #expect(try desk.members() == ["desk"])
    }
}
