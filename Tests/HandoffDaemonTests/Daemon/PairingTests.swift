import HandoffControl
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Devices that join an account by a code or a link, by whole daemons.
@Suite final class PairingTests {
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

    /// Admits the couch, and checks all consequences.
    private func finish(
        _ window: PairCall, _ join: JoinCall, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let device = try window.confirm(sourceLocation)
        #expect(device.name == "couch", sourceLocation: sourceLocation)
        #expect(try couch.status().device == device.id, sourceLocation: sourceLocation)
        try desk.answer(device, accept: true)
        try window.joined(device, sourceLocation)
        #expect(try join.account(sourceLocation) == desk.status().account, sourceLocation: sourceLocation)
        try fleet.settle([desk, couch], sourceLocation: sourceLocation)
        for member in [desk, couch] {
            #expect(try member.members() == ["desk", "couch"], sourceLocation: sourceLocation)
            #expect(try member.deviceList().allSatisfy { !$0.unfinished }, sourceLocation: sourceLocation)
        }
    }

    @Test func `a device joins by code over discovery`() throws {
        let window = try desk.pair()
        let code = try #require(try window.opened().code)
        #expect(fleet.pairingNetwork.publications.map(\.text) == [[Array("v=1".utf8)]])
        let join = try couch.join(code: code)

        #expect(try join.next() == .looking)
        guard case .calling(let address) = try join.next() else { throw UnexpectedEvent() }
        #expect(address.hasPrefix("127.0.0.1:"))
        guard case .waiting(let inviter) = try join.next() else { throw UnexpectedEvent() }
        #expect(try inviter == PairingDevice(id: desk.status().device, name: "desk"))
        try finish(window, join)
        #expect(fleet.pairingNetwork.publications.isEmpty)
        #expect(fleet.pairingNetwork.stationCount == 0)
    }

    @Test func `the new member receives the offers`() throws {
        let published = try desk.publish(Note.activity("first"))
        let watcher = try couch.watch()
        try watcher.ready()
        let window = try desk.pair(automatic: true)
        _ = try couch.join(code: try window.opened().code)
        #expect(try watcher.added().id == published.activity)
    }

    @Test func `a device joins by code at an address`() throws {
        let window = try desk.pair()
        let opened = try window.opened()
        let address = try #require(opened.addresses.first)
        let join = try couch.join(code: opened.code, address: address)
        // No search is needed.
        #expect(try join.next() == .calling(address: address))
        try finish(window, join)
    }

    @Test func `a device joins by code at a host name`() throws {
        let window = try desk.pair()
        let opened = try window.opened()
        let port = try #require(opened.addresses.first?.split(separator: ":").last)
        try finish(window, try couch.join(code: opened.code, address: "localhost:\(port)"))
    }

    @Test func `a device joins by link`() throws {
        let window = try desk.pair()
        let opened = try window.opened()
        #expect(opened.link.hasPrefix("handoff:pair/1/"))
        let join = try couch.join(link: opened.link)
        guard case .calling = try join.next() else { throw UnexpectedEvent() }
        try finish(window, join)
    }

    @Test func `group separators in a code are ignored`() throws {
        let window = try desk.pair()
        let code = try #require(try window.opened().code)
        try finish(window, try couch.join(code: code.prefix(4) + " " + code.suffix(4)))
    }

    @Test func `an automatic window admits the first device without confirmation`() throws {
        let window = try desk.pair(automatic: true)
        let join = try couch.join(code: try window.opened().code)
        #expect(try join.account() == desk.status().account)
        let device = PairingDevice(id: try couch.status().device, name: "couch")
        try window.joined(device)
        try fleet.settle([desk, couch])
    }

    @Test func `the new member can invite the next`() throws {
        let train = try fleet.device("train")
        let first = try desk.pair(automatic: true)
        _ = try couch.join(code: try first.opened().code).account()
        let second = try couch.pair(automatic: true)
        _ = try train.join(code: try second.opened().code).account()
        try fleet.settle([desk, couch, train])
        #expect(try desk.members() == ["desk", "couch", "train"])
    }

    @Test func `the epoch does not change`() throws {
        let before = try desk.status().epoch
        let window = try desk.pair(automatic: true)
        _ = try couch.join(code: try window.opened().code).account()
        try fleet.settle([desk, couch])
        #expect(try desk.status().epoch == before)
    }

    @Test func `the faster of two joiners is confirmed first, and the other waits`() throws {
        let train = try fleet.device("train")
        let window = try desk.pair()
        let code = try window.opened().code
        let first = try couch.join(code: code)
        #expect(try first.inviter().name == "desk")
        let second = try train.join(code: code)
        try fleet.run("the second calls") { second.waiting >= 2 }
        let asked = try window.confirm()
        #expect(asked.name == "couch")

        // The first cancels. The same code admits the second.
        first.close()
        #expect(try window.next() == .gone(asked))
        let next = try window.confirm()
        #expect(next.name == "train")
        try desk.answer(next, accept: true)
        try window.joined(next)
        #expect(try second.account() == desk.status().account)
    }

    @Test func `secrets are not logged`() throws {
        let window = try desk.pair()
        let opened = try window.opened()
        let code = try #require(opened.code)
        try finish(window, try couch.join(code: code))
        let secret = try #require(opened.link.split(separator: "/").dropLast().last)
        for device in [desk, couch] {
            #expect(!device.log.contains { $0.contains(code) || $0.contains(secret) })
            #expect(device.log.contains { $0.contains("pairing") })
        }
    }
}
