import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffStreams
import HandoffTestSupport
import HandoffTransport
import LoopIO
import Testing

/// Two `Peers` find each other, and exchange announcements, lists, requests and streams.
@Suite final class PeersTests {
    private let network: PeersNetwork
    private let desk: TestPeers
    private let couch: TestPeers

    init() throws {
        network = try PeersNetwork()
        let devices = try network.account("desk", "couch")
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        network.end()
    }

    /// Waits until the couch knows exactly these offers of the desk.
    private func expect(_ offers: [LocalOffer], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try network.run("the offers", sourceLocation) {
            let present = couch.offers(of: desk)
            return Set(present) == Set(offers.map(\.activity.id)) && present.count == offers.count
        }
    }

    /// Continues an activity of the desk on the couch.
    private func fetch() throws -> Result<ActivityID?, HandoffFailure> {
        let activity = try offer("fetched").activity
        var result: Result<ActivityID?, HandoffFailure>?
        let handle = couch.peers.fetch(activity.id, from: desk.id, versions: nil, timeout: .seconds(10)) {
            result = $0.map { _ in activity.id }
        }
        try network.run("the payload") { result != nil }
        handle.cancel()
        return try #require(result)
    }

    @Test func `announced offers arrive and each change is reported once`() throws {
        let note = try offer("note")
        couch.events = []
        desk.offer([note])
        try expect([note])
        #expect(couch.events.filter { $0 == .offersChanged([desk.id]) }.count == 1)

        desk.offer([])
        try expect([])
        #expect(couch.events.filter { $0 == .offersChanged([desk.id]) }.count == 2)
    }

    @Test func `the first proof of the account key is reported once for each member`() throws {
        try network.connect(desk, to: couch)
        for (device, other) in [(desk, couch), (couch, desk)] {
            try network.run("the proof") { device.peers.keyHolders.contains(other.id) }
            #expect(device.events.filter { $0 == .received(other.id, isFirstUnderKey: true) }.count == 1)
        }
    }

    @Test func `a list that is longer than an announcement is fetched over a link`() throws {
        let offers = try (0..<40).map { try offer("number \($0)") }
        desk.offer(offers)
        try expect(offers)
        #expect(couch.peers.isConnected(desk.id))
        // The component itself answers the request for the list.
        #expect(!desk.events.contains { if case .request = $0 { true } else { false } })
    }

    @Test func `offers arrive over a link where datagrams are blocked`() throws {
        desk.blockDatagrams()
        couch.blockDatagrams()
        couch.discovery.stopReceiving()
        let first = try offer("over a link")
        desk.offer([first])
        try expect([first])
        desk.offer([])
        try expect([])
        desk.unblockDatagrams()
        couch.unblockDatagrams()
        let second = try offer("by datagram")
        desk.offer([second])
        try expect([second])
    }

    @Test func `an offer to one device is not announced to the others`() throws {
        let (ours, theirs) = (try offer("for the couch", to: couch.id), try offer("for another", to: desk.id))
        desk.offer([ours, theirs])
        try expect([ours])
    }

    @Test func `a device that is excluded from advertising receives no offers by any means`() throws {
        desk.unadvertisedDevices = [couch.id]
        desk.offers = try (0..<40).map { try offer("number \($0)") }
        couch.events = []
        desk.peers.advertisingChanged()
        let position = try #require(couch.peers.table[desk.id]?.seq)
        try network.run("the announcement") {
            (couch.peers.table[desk.id]?.seq ?? 0) > position || !couch.events.isEmpty
        }
        #expect(couch.offers(of: desk).isEmpty)

        desk.unadvertisedDevices = []
        desk.peers.advertisingChanged()
        try expect(desk.offers)
    }

    @Test func `a leaving device is offline and its offers are void immediately`() throws {
        let note = try offer("note")
        desk.offer([note])
        try expect([note])
        couch.events = []
        // The leave message announces it, and not the removal of the record.
        couch.discovery.stopReceiving()
        desk.stop()
        try network.run("the desk is offline") { couch.peers.table[desk.id] == nil }
        #expect(couch.events.contains(.offersChanged([desk.id])))
    }

    @Test func `a device that goes to sleep waits for confirmations and returns under another label`() throws {
        let label = try #require(desk.discovery.publication?.instance)
        var isConfirmed = false
        desk.peers.fallAsleep { isConfirmed = true }
        try network.run("the couch confirms it") { isConfirmed }
        #expect(couch.peers.table[desk.id] == nil)
        #expect(couch.peers.asleepSince(desk.id) != nil)

        desk.peers.wakeUp()
        try network.settle([desk, couch])
        #expect(desk.discovery.publication?.instance != label)
        #expect(couch.peers.asleepSince(desk.id) == nil)
    }

    @Test func `a device that goes to sleep is asleep although a connection opens after that`() throws {
        var isConfirmed = false
        desk.peers.fallAsleep { isConfirmed = true }
        // Until then, it closes its connections.
        try network.run("the couch confirms it") { isConfirmed && couch.peers.table[desk.id] == nil }
        try network.connect(desk, to: couch)
        #expect(couch.peers.isConnected(desk.id))
        #expect(couch.peers.asleepSince(desk.id) != nil)
        guard case .failure(let failure) = try fetch() else { return #expect(Bool(false), "it was not refused") }
        #expect(failure.reason == HandoffFailure.peerAsleep(device: "", since: "").reason)

        couch.discovery.stopReceiving()
        desk.peers.wakeUp()
        try network.run("it is online") { couch.peers.table[desk.id] != nil }
        #expect(couch.peers.asleepSince(desk.id) == nil)
    }

    @Test func `requests and notices reach the delegate and answers return`() throws {
        desk.answer = .failure(.paused(device: "desk"))
        guard case .failure(let failure) = try fetch() else { return #expect(Bool(false), "it was not refused") }
        #expect(failure.reason == HandoffFailure.paused(device: "").reason)
        #expect(desk.events.contains(.request(PeerMethod.continueActivity, from: couch.id)))

        couch.peers.notifyOrigin(desk.id, PeerMethod.wasContinued, try offer("continued").activity.id)
        try network.run("the notice") { desk.events.contains(.notice(PeerMethod.wasContinued, from: couch.id)) }
    }

    @Test func `a connection for a stream is opened to a member`() throws {
        var result: Result<StreamChannel, HandoffFailure>?
        let dial = couch.peers.openStream(to: desk.id) { result = $0 }
        try network.run("the connection") { result != nil }
        dial?.cancel()
        _ = try #require(result).get()
    }

    @Test(arguments: [false, true]) func `a device under a new label is followed`(isConflict: Bool) throws {
        let before = try #require(desk.discovery.publication?.instance)
        desk.discovery.emit(isConflict ? .conflict(instance: before) : .networkChanged)
        try network.run("a new label") { desk.discovery.publication.map { $0.instance != before } ?? false }
        let note = try offer("under the new label")
        desk.offer([note])
        try expect([note])
        #expect(couch.peers.table.count == 1)
    }

    @Test func `a device that restarts at another address is called there`() throws {
        let note = try offer("before the start")
        desk.offer([note])
        try expect([note])
        desk.vanish(unnoticedBy: couch)
        desk.offers = []
        try desk.start()
        try network.run("the former offers are void") { couch.offers(of: desk).isEmpty }
        desk.answer = .failure(.paused(device: "desk"))
        try network.run("the new address") { couch.peers.table[desk.id]?.port == desk.address.port }
        guard case .failure(let failure) = try fetch() else { return #expect(Bool(false), "it was not refused") }
        #expect(failure.reason == HandoffFailure.paused(device: "").reason)
    }

    @Test func `the generation rises above the one that another device has received`() throws {
        let generation = network.unixSeconds + 1000
        desk.peers.restart(generation: generation)
        try network.run("the greater generation") { couch.peers.table.seenGeneration(of: desk.id) == generation }
        desk.vanish(unnoticedBy: couch)
        try desk.start()
        try network.run("the couch is found") { desk.peers.table[couch.id] != nil }
        try network.connect(desk, to: couch)
        try network.run("the generation is raised") { desk.events.contains(.generation(above: generation)) }
        let note = try offer("in the raised generation")
        desk.offer([note])
        try expect([note])
    }

    @Test func `a device at a configured address is found without discovery`() throws {
        desk.stop()
        couch.stop()
        try desk.start()
        desk.discovery.stopReceiving()
        let address = try #require(StaticAddress(desk.address.description))
        network.discovery.hold()
        try couch.start(addresses: [address])
        try network.run("the device is found") { couch.peers.table[desk.id] != nil }
        try network.run("its address is known") { couch.peers.configuredAddresses.map(\.device) == [desk.id] }
        let note = try offer("to a configured address")
        desk.offer([note])
        try expect([note])
        network.discovery.release()
    }
}
