import HandoffControl
import HandoffCrypto
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Whole daemons outside of the account, and other hosts on the network, get nothing.
@Suite final class UnknownDeviceTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        let devices = try fleet.account("desk", "couch")
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        fleet.end()
    }

    /// A ClientHello as every device sends it.
    private func clientHello() throws -> [UInt8] {
        let context = try TLSContext(identity: TLSIdentity(key: try SigningKey()), role: .client)
        return try #require(TLSSession(context: context, accepts: { _ in true }).start())
    }

    @Test func `another account receives nothing`() throws {
        let other = try fleet.device("other")
        _ = try other.call(.createAccount)
        let theirs = try other.publish(Note.activity("theirs"))
        let ours = try desk.publish(Note.activity("ours"))
        try fleet.poll("the couch has our offer") { try couch.offers().map(\.id) == [ours.activity] }

        #expect(try other.offers().isEmpty)
        #expect(try other.status().peers.isEmpty)
        #expect(other.discovery.known.isEmpty)
        #expect(try !couch.offers().contains { $0.id == theirs.activity })
        #expect(try desk.status().peers.count == 1)
    }

    @Test func `another account that knows the address does not receive a byte`() throws {
        let other = try fleet.device("other")
        let mate = try fleet.device("mate")
        _ = try other.call(.createAccount)
        try mate.importAccount(try other.exportAccount())
        try mate.stop()
        let tap = try Wiretap(before: desk.address, on: fleet.loop)
        _ = try other.call(.addPeer, ["address": .string(tap.address.description)])
        try fleet.poll("the call") { tap.opening.count > 32 }
        let ours = try desk.publish(Note.activity("ours"))
        try fleet.poll("the couch has our offer") { try couch.offers().map(\.id) == [ours.activity] }
        fleet.pass(.seconds(10))

        let peer = try #require(try other.status().peers.first { $0.via == .static })
        #expect(peer.via == .static)
        #expect(peer.device == nil)
        #expect(!peer.connected)
        #expect(tap.answered == 0)
    }

    @Test func `a device without an account receives nothing`() throws {
        let lone = try fleet.device("lone")
        let ours = try desk.publish(Note.activity("ours"))
        try fleet.poll("the couch has our offer") { try couch.offers().map(\.id) == [ours.activity] }
        #expect(try lone.offers().isEmpty)
        #expect(lone.discovery.known.isEmpty)
        #expect(lone.discovery.publication == nil)
        // It neither calls nor answers.
        let call = RawConnection(
            to: lone.address, writing: [UInt8](repeating: 7, count: 32) + (try clientHello()), fleet)
        try call.awaitEnd()
        #expect(call.received.isEmpty)
    }

    enum Opening: CaseIterable {
        case wrongToken
        case noToken
        case webRequest
        case halfAToken
    }

    @Test(arguments: Opening.allCases) func `an unknown device does not receive a byte`(_ opening: Opening) throws {
        let bytes: [UInt8] =
            switch opening {
            case .wrongToken: [UInt8](repeating: 7, count: 32) + (try clientHello())
            case .noToken: try clientHello() + [UInt8](repeating: 0, count: 1100)
            case .webRequest: Array("GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl\r\n\r\n".utf8)
            case .halfAToken: [1, 2, 3]
            }
        let call = RawConnection(to: desk.address, writing: bytes, fleet)
        // A caller that sends too little is disconnected after a second.
        if opening == .halfAToken {
            // Older events are served first.
            for _ in 1...2 { _ = try desk.status() }
            fleet.pass(.seconds(2))
        }
        try call.awaitEnd()
        #expect(call.received.isEmpty)
        #expect(try desk.status().warnings.isEmpty)
    }

    @Test func `a recorded opening has no effect when it is repeated`() throws {
        let tap = try Wiretap(before: desk.address, on: fleet.loop)
        _ = try couch.call(.addPeer, ["address": .string(tap.address.description)])
        try fleet.run("the call is answered") { tap.answered > 0 }
        #expect(tap.opening.count > 32)

        let replay = RawConnection(to: desk.address, writing: tap.opening, fleet)
        try replay.awaitEnd()
        #expect(replay.received.isEmpty)
    }

    @Test func `forged records change nothing`() throws {
        let genuine = try #require(couch.discovery.publication)
        let published = try desk.publish(Note.activity("before"))
        try fleet.poll("the offer") { try couch.offers().count == 1 }
        let watcher = try couch.watch()
        #expect(try watcher.added().id == published.activity)
        try watcher.ready()
        let name = try #require(desk.discovery.publication?.instance)
        for text in [[], [Array("v=1".utf8)], genuine.text, genuine.text.map { $0 + [0] }] {
            let service = DiscoveredService(
                instance: name, text: text, port: 9, addresses: [SocketAddress(.loopbackIPv4, port: 9)])
            couch.discovery.emit(.service(service))
        }
        couch.discovery.emit(.service(DiscoveredService(instance: "not a label", text: genuine.text)))

        let next = try desk.publish(Note.activity("after"))
        #expect(try watcher.added().id == next.activity)
        _ = try couch.continue(ContinueRequest(activity: next.activity.hex, take: true)).result()
        guard case .continued = try next.next() else { throw UnexpectedEvent() }
    }
}
