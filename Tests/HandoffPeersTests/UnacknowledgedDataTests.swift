import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO
import Testing

/// Links with data that the other machine has not acknowledged when a roster is sent again.
@Suite final class UnacknowledgedDataTests {
    private let network: PeersNetwork
    /// The device with the smaller id. It calls about a difference immediately.
    private let first: TestPeers
    /// It calls about a difference a second later.
    private let second: TestPeers

    init() throws {
        network = try PeersNetwork()
        let devices = try network.account("desk", "couch").sorted { $0.id < $1.id }
        (first, second) = (devices[0], devices[1])
    }

    deinit {
        network.end()
    }

    /// Renames the first device.
    private func rename(by device: TestPeers) throws {
        var result: Result<Void, any Error>?
        device.accountStore.rename(first.id, to: "sofa") { result = $0 }
        try network.run("the name is stored") { result != nil }
        _ = try #require(result).get()
    }

    /// Announces an offer, and with it the digest of the roster, by datagram.
    private func announce(by device: TestPeers, to other: TestPeers) throws {
        let note = try offer("note")
        device.offer([note])
        try network.run("the offer") { other.offers(of: device) == [note.activity.id] }
    }

    private func notify(_ other: TestPeers, by device: TestPeers) throws {
        device.peers.notifyOrigin(other.id, PeerMethod.wasContinued, try offer("continued").activity.id)
    }

    private func expectName(on device: TestPeers) throws {
        try network.run("the name") { device.accountStore.snapshot.name(of: first.id) == "sofa" }
    }

    @Test func `a new link stays open while its first message is on its way`() throws {
        try #require(!first.peers.isConnected(second.id) && !second.peers.isConnected(first.id))
        second.blockConnections()
        try rename(by: first)
        // In a second, the second device calls about the difference.
        try announce(by: first, to: second)
        try network.runTimers(for: .milliseconds(400))
        second.onEvent = { [unowned self] event in
            guard event == .linksChanged, second.peers.isConnected(first.id) else { return }
            second.onEvent = nil
            second.freezeConnections()
            first.freezeConnections()
            try? notify(first, by: second)
        }
        try network.withClockStopped {
            try notify(first, by: second)
            try network.run("the link") { second.onEvent == nil }
        }
        second.events = []

        try network.runTimers(for: .milliseconds(700))

        #expect(!second.events.contains(.linksChanged))
        #expect(second.peers.isConnected(first.id))
        first.thawConnections()
        second.unblockConnections()
        try expectName(on: second)
    }

    @Test func `a link stays open while a message that was just sent is on its way`() throws {
        try network.connect(first, to: second)
        try network.runTimers(for: .seconds(5))
        first.freezeConnections()
        second.freezeConnections()
        try rename(by: second)
        first.onEvent = { [unowned self] event in
            guard event == .offersChanged([second.id]) else { return }
            first.onEvent = nil
            first.events = []
            try? notify(second, by: first)
        }
        try announce(by: second, to: first)
        try #require(first.onEvent == nil)

        try network.runTimers(for: .milliseconds(100))

        #expect(!first.events.contains(.linksChanged))
        #expect(first.peers.isConnected(second.id))
        first.thawConnections()
        second.thawConnections()
        try expectName(on: first)
    }
}
