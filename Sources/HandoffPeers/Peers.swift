package import HandoffAccount
import HandoffCrypto
package import HandoffDiscovery
package import HandoffModel
package import HandoffProtocol
package import HandoffState
import HandoffTransport
package import LoopIO

/// The other devices of the account. Finds them, exchanges announcements and rosters with them, and
/// keeps connections to them. Lives on the daemon's loop.
///
/// `Peers` creates and owns the parts of this module. A part has direct references to the parts
/// that it uses. An event that concerns several parts goes through `Peers+Events.swift`. The rest
/// of the daemon is the `PeersDelegate`.
package final class Peers {
    /// The values from the configuration that this component uses.
    package struct Settings {
        /// The means by which local offers are announced.
        package var advertising: Advertising
        /// The time for which offers of other devices are valid without renewal.
        package var lifetime: Duration
        /// The rate of reserved values.
        package var grease: Grease.Rate

        /// Creates settings with these values.
        package init(advertising: Advertising, lifetime: Duration, grease: Grease.Rate) {
            self.advertising = advertising
            self.lifetime = lifetime
            self.grease = grease
        }
    }

    /// The time for which the announcement of sleep is sent in datagrams only: until it was repeated twice.
    private static let closingDelay = Duration.milliseconds(250)

    let loop: EventLoop
    let log: Logger
    let worker: Worker
    let folder: StateFolder
    let wallClock: any WallClock
    let accountStore: AccountStore
    let discovery: any Discovery
    /// Weak because a pending request can outlive the delegate.
    package weak var delegate: (any PeersDelegate)?

    let records = PeerRecords()
    let network: PeerNetwork
    let pool: LinkPool
    let client: PeerClient
    let lists: ListFetcher
    let sync: RosterSync
    let joining: TicketJoin
    /// The kept activities of all members.
    package let kept: KeptSync
    let staticPeers: StaticPeers
    private let staticDiscovery: StaticDiscovery
    /// Nil once the daemon stops.
    private var admission: PeerAdmission?
    /// Runs from the announcement of sleep until the connections are closed.
    private var closing: LoopTimer?
    /// Runs while this device leaves its account.
    private var leaveNotifier: LeaveNotifier?

    /// Creates the component. It accepts connections from now on, and announces nothing before
    /// `start`.
    ///
    /// - Parameters:
    ///   - stored: the state folder and its content.
    ///   - port: the sockets for connections and datagrams.
    /// - Throws: if no file descriptor or memory is available.
    package init(
        loop: EventLoop, log: Logger, worker: Worker, stored: StoredState, accountStore: AccountStore,
        port: consuming BoundPort, discovery: any Discovery, settings: Settings, wallClock: any WallClock
    ) throws {
        self.loop = loop
        self.log = log
        self.worker = worker
        self.accountStore = accountStore
        self.discovery = discovery
        self.wallClock = wallClock
        folder = stored.folder
        let identity = try TLSIdentity(key: stored.identity)
        let streams = TLSContext.streamProtocol
        let server = try TLSContext(
            identity: identity, role: .server, protocols: [TLSContext.applicationProtocol, streams])
        let dialer = Dialer(context: try TLSContext(identity: identity, role: .client), on: loop)
        let streamDialer = Dialer(
            context: try TLSContext(identity: identity, role: .client, protocols: [streams]), on: loop)
        let snapshot = accountStore.snapshot
        records.accountChanged(snapshot)
        network = PeerNetwork(
            loop: loop, log: log.named("peers"), socket: try DatagramSocket(port.udp, on: loop),
            speaker: Announcer.Speaker(
                deviceID: accountStore.deviceID, key: stored.identity, kind: .other, port: port.port),
            generation: stored.generation, snapshot: snapshot, staticCalls: StaticCalls(stored.callers.latest),
            discovery: discovery, records: records, settings: settings, wallClock: wallClock)
        pool = LinkPool(
            loop: loop, log: log.named("links"), dialer: dialer, records: records, snapshot: snapshot,
            grease: settings.grease)
        client = PeerClient(
            loop: loop, accountStore: accountStore, pool: pool, records: records, network: network,
            streamDialer: streamDialer, wallClock: wallClock)
        lists = ListFetcher(loop: loop, log: log.named("links"), client: client, network: network, records: records)
        sync = RosterSync(
            loop: loop, log: log.named("roster"), accountStore: accountStore, pool: pool, records: records)
        kept = KeptSync(
            loop: loop, log: log.named("kept"), accountStore: accountStore, pool: pool, records: records,
            network: network, wallClock: wallClock)
        joining = TicketJoin(loop: loop, log: log.named("joining"), pool: pool, network: network, records: records)
        staticDiscovery = StaticDiscovery(peers: [], logger: log.named("discovery"))
        staticPeers = StaticPeers(
            loop: loop, log: log.named("static"), discovery: staticDiscovery, pool: pool, network: network)
        network.peers = self
        pool.peers = self
        kept.peers = self
        admission = try PeerAdmission(port.tcp, context: server, peers: self)
    }

    // MARK: - Life

    /// Starts to receive datagrams, and announces this device if it is in an account.
    package func start() {
        network.start()
    }

    /// Starts to look for other devices.
    ///
    /// - Parameters:
    ///   - addresses: the configured addresses.
    ///   - deliver: passes an event from discovery's thread to `discovered` on the loop.
    package func startDiscovery(
        _ addresses: [StaticAddress], _ deliver: @escaping @Sendable (DiscoveryEvent) -> Void
    ) {
        discovery.setMembership { [snapshot = accountStore.snapshot] in snapshot.recognises(instance: $0) }
        discovery.start(deliver)
        staticDiscovery.start(deliver)
        for address in addresses { staticPeers.add(address) }
    }

    /// Handles an event of discovery.
    package func discovered(_ event: DiscoveryEvent) {
        network.discovered(event)
        guard case .networkChanged = event else { return }
        pool.networkChanged()
        staticPeers.networkChanged()
    }

    /// Announces that this device leaves. Its offers are void immediately.
    package func leave() {
        network.announceLeave()
    }

    /// Accepts no more connections, closes the existing ones, and makes no new ones.
    package func stop() {
        admission?.stop()
        admission = nil
        pool.stop()
        staticDiscovery.stop {}
    }

    /// Announces that the machine goes to sleep, and closes all connections.
    ///
    /// - Parameter completion: called when all online devices have confirmed the announcement;
    ///   never called if one of them does not, or if the machine wakes first.
    package func fallAsleep(completion: @escaping () -> Void) {
        network.fallAsleep { [self] in
            closing = nil
            pool.closeAll()
            completion()
        }
        // The hello that closes a connection also announces it. A device that receives the hello first
        // does not acknowledge the datagram, and this one would wait for it until the deadline.
        closing = loop.timer(after: Self.closingDelay, accuracy: .milliseconds(10)) { [unowned self] in
            pool.closeAll()
        }
    }

    /// Announces this device under a new label after the machine has woken, and checks the
    /// connections.
    package func wakeUp() {
        closing = nil
        network.wakeUp()
        pool.networkChanged()
    }

    // MARK: - Announcing

    /// Announces the local offers if they have changed.
    package func offersChanged() {
        network.announce()
    }

    /// Announces again because the set of announced offers, or of devices that receive them, may
    /// have changed.
    package func advertisingChanged() {
        network.switchesChanged()
    }

    /// Applies reloaded settings.
    package func setAdvertising(_ advertising: Advertising, lifetime: Duration) {
        network.show(advertising)
        network.setLifetime(lifetime)
    }

    /// Sets the kind of machine that is announced.
    package func setKind(_ kind: DeviceKind) {
        network.setKind(kind)
    }

    /// Sends periodic announcements less often, or as often as usual.
    package func setSavesPower(_ savesPower: Bool) {
        network.setSavesPower(savesPower)
    }

    /// Limits this device to some network interfaces; nil removes the limit. Without any interface,
    /// nothing is sent or accepted.
    package func limit(to interfaces: [String]?) {
        discovery.limit(to: interfaces)
        network.setSilent(interfaces?.isEmpty == true)
        pool.isSilent = network.isSilent
    }

    /// Continues in a greater generation, which is already stored.
    package func restart(generation: UInt64) {
        network.restart(generation: generation)
    }

    // MARK: - Configured addresses

    /// Starts to call a configured address.
    package func add(_ address: StaticAddress) { staticPeers.add(address) }

    /// Removes a configured address. A connection to it stays open until it is idle.
    package func remove(_ address: StaticAddress) { staticPeers.remove(address) }

    // MARK: - Leaving the account

    /// Sends the statements that remove this device to all other members.
    ///
    /// - Parameter completion: called once, after at most two seconds, with the members that have
    ///   confirmed the removal.
    package func notifyLeaving(_ state: AccountState, completion: @escaping (Set<DeviceID>) -> Void) {
        leaveNotifier = LeaveNotifier(
            accountStore.snapshot.others, statements: state.roster.encoded(), on: loop,
            link: { [pool] in $1(pool.link(to: $0)) },
            completion: { [self] in
                let notified = leaveNotifier?.notified ?? []
                leaveNotifier = nil
                completion(notified)
            })
    }
}
