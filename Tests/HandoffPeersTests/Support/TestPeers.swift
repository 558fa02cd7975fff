import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffTestSupport
import HandoffTransport
import LoopIO
import Testing

/// One device of a `PeersNetwork`: `Peers` on real sockets and a state folder. This class takes the
/// place of the rest of the daemon.
final class TestPeers {
    /// An event that the component reported to the rest of the daemon.
    enum Event: Equatable {
        case offersRead
        case offersChanged(Set<DeviceID>)
        case received(DeviceID, isFirstUnderKey: Bool)
        case linksChanged
        case othersEnded
        case request(String, from: DeviceID)
        case notice(String, from: DeviceID)
        case generation(above: UInt64)
    }

    /// The parts that exist while the device is running. They are released at its end, since the
    /// state folder is locked until then.
    private struct Running {
        let peers: Peers
        let accountStore: AccountStore
        let discovery: FakeDiscovery
        let key: SigningKey
        let address: SocketAddress
        let datagrams: Int32
        let connections: Int32
    }

    let name: String
    let id: DeviceID
    private let folder: ScratchFolder
    private unowned let network: PeersNetwork
    private let sink = MemorySink()
    private var runningParts: Running?
    /// The local offers.
    var offers: [LocalOffer] = []
    var unadvertisedDevices: Set<DeviceID> = []
    /// The answer to each request.
    var answer = PeerResponse.Outcome.result([:])
    /// The events since they were last cleared.
    var events: [Event] = []
    /// The new records of kept activities.
    var receivedKept: [KeptRecord] = []
    /// Called with each event after it was recorded.
    var onEvent: ((Event) -> Void)?

    /// Creates a device that is not running.
    init(_ name: String, _ id: DeviceID, _ folder: ScratchFolder, _ network: PeersNetwork) {
        self.name = name
        self.id = id
        self.folder = folder
        self.network = network
    }

    private var running: Running {
        guard let runningParts else { preconditionFailure("\(name) is not running") }
        return runningParts
    }

    var peers: Peers { running.peers }
    var accountStore: AccountStore { running.accountStore }
    var discovery: FakeDiscovery { running.discovery }
    var key: SigningKey { running.key }
    /// The address on which the device listens.
    var address: SocketAddress { running.address }

    /// Starts the device.
    func start(addresses: [StaticAddress] = []) throws {
        // The worker of a former start may still be writing.
        try network.poll("\(name) starts") {
            do throws(StateError) {
                let stored = try StateFolder.open(folder.path, now: network.unixSeconds)
                runningParts = try? make(stored)
            } catch .inUse {
                return false
            }
            return true
        }
        let parts = running
        parts.peers.delegate = self
        parts.accountStore.delegate = self
        parts.peers.start()
        let relay = LoopRelay<DiscoveryEvent>(to: network.loop) { [weak peers = parts.peers] in peers?.discovered($0) }
        parts.peers.startDiscovery(addresses) { relay.send($0) }
        parts.accountStore.review()
    }

    private func make(_ stored: StoredState) throws -> Running {
        let loop = network.loop
        let worker = try Worker(name: name)
        let wallClock = FleetWallClock(clock: network.clock)
        let log = Logger(subsystem: name, sink: sink, level: .debug)
        let discovery = network.discovery.station()
        let accountStore = AccountStore(
            device: stored.identity, state: stored.account, loop: loop, worker: worker, log: log,
            storage: stored.folder, wallClock: wallClock)
        let port = try BoundPort(port: 0, address: .loopbackIPv4)
        let address = SocketAddress(.loopbackIPv4, port: port.port)
        let (datagrams, connections) = (port.udp.raw, port.tcp.raw)
        let peers = try Peers(
            loop: loop, log: log, worker: worker, stored: stored, accountStore: accountStore, port: port,
            discovery: discovery,
            settings: Peers.Settings(
                advertising: Advertising(reach: .all, showsTitles: true), lifetime: PeerTable.maxLifetime,
                grease: .never),
            wallClock: wallClock)
        return Running(
            peers: peers, accountStore: accountStore, discovery: discovery, key: stored.identity, address: address,
            datagrams: datagrams, connections: connections)
    }

    /// The log, for a test that failed.
    var report: String {
        (["--- \(name)"] + sink.entries.map(\.line)).joined(separator: "\n")
    }

    /// The ids of the offers of another device, as this one knows them.
    func offers(of other: TestPeers) -> [ActivityID] {
        peers.table[other.id]?.offers.map(\.activity.id) ?? []
    }

    /// Announces these offers.
    func offer(_ offers: [LocalOffer]) {
        self.offers = offers
        peers.offersChanged()
    }

    /// Announces that the device leaves, and ends it.
    func stop() {
        guard let parts = runningParts else { return }
        parts.peers.leave()
        parts.peers.stop()
        parts.discovery.stop {}
        // The worker may still be writing the account.
        parts.accountStore.delegate = nil
        runningParts = nil
    }

    /// Ends the device while no datagram or record that announces it arrives at the others.
    func vanish(unnoticedBy others: TestPeers...) {
        for other in others {
            other.blockDatagrams()
            other.discovery.stopReceiving()
        }
        stop()
        for other in others { other.unblockDatagrams() }
    }

    /// Drops all datagrams to the device, as a firewall would.
    func blockDatagrams() { PacketFilter.dropAll(running.datagrams) }

    /// Lets datagrams arrive again.
    func unblockDatagrams() { PacketFilter.dropNothing(running.datagrams) }

    /// Leaves new connections unanswered.
    func blockConnections() { PacketFilter.dropAll(running.connections) }

    /// Answers new connections again.
    func unblockConnections() { PacketFilter.dropNothing(running.connections) }

    /// Drops all data on the established connections to and from the device, without notification.
    func freezeConnections() {
        for descriptor in PacketFilter.connections(of: address.port) { PacketFilter.dropAll(descriptor) }
    }

    /// Stops dropping data on the established connections.
    func thawConnections() {
        for descriptor in PacketFilter.connections(of: address.port) { PacketFilter.dropNothing(descriptor) }
    }

    private func record(_ event: Event) {
        events.append(event)
        onEvent?(event)
    }
}

extension TestPeers: PeersDelegate {
    var localOffers: [LocalOffer] {
        record(.offersRead)
        return offers
    }

    func offersChanged(of devices: Set<DeviceID>) { record(.offersChanged(devices)) }

    func messageReceived(from device: DeviceID, isFirstUnderKey: Bool) {
        record(.received(device, isFirstUnderKey: isFirstUnderKey))
    }

    func linksChanged() { record(.linksChanged) }

    func answer(_ request: PeerRequest, over link: PeerLink) {
        record(.request(request.method, from: link.device))
        link.respond(to: request.id, with: answer)
    }

    func handle(_ notice: PeerNotice, from device: DeviceID) { record(.notice(notice.method, from: device)) }

    func keptChanged(_ new: [KeptRecord]) { receivedKept += new }

    func acceptStream(_ connection: PeerConnection, from device: DeviceID) {
        connection.close("these tests have no streams")
    }

    func raiseGeneration(above seen: UInt64) {
        record(.generation(above: seen))
        peers.restart(generation: seen + 1)
    }
}

extension TestPeers: AccountStoreDelegate {
    var onlineMemberCount: Int { peers.table.count }

    func accountChanged(from former: AccountState?, to present: AccountState) {
        peers.accountChanged(from: former, to: present) { _ in record(.othersEnded) }
    }
}
