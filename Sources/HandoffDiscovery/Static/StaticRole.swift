import HandoffModel
import LoopIO

/// The peers of a `StaticDiscovery`, with their lookups and delays. It must be used on a discovery
/// thread, where a lookup may block.
final class StaticRole: DiscoveryRole {
    enum Command: Sendable {
        case add(StaticPeer)
        case remove(StaticPeer)
        case refresh(String)
        case lookUp(String)
        case stop(@Sendable () -> Void)
    }

    private struct Entry {
        let peer: StaticPeer
        var reported: DiscoveredService?
        var due: MonotonicInstant?
        var lookedUp: MonotonicInstant?
        var backoff = Backoff.nameLookup
    }

    /// The minimum time between two lookups of a name. Each connection attempt requests one.
    static let minInterval = Duration.milliseconds(500)

    private let loop: DiscoveryLoop
    private let logger: Logger
    private let onEvent: @Sendable (DiscoveryEvent) -> Void
    private let resolve: (StaticPeer) -> [SocketAddress]
    private var entries: [String: Entry] = [:]
    private var timer: DiscoveryTimer?

    /// - Parameter resolve: Resolves a name. It may block.
    init(
        loop: DiscoveryLoop, logger: Logger, resolve: @escaping (StaticPeer) -> [SocketAddress] = NameLookup.addresses,
        onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
    ) {
        self.loop = loop
        self.logger = logger
        self.resolve = resolve
        self.onEvent = onEvent
    }

    func start() {
        timer = loop.timer {}  // The end of the turn does what is due.
        onEvent(.state(.static, .running))
    }

    func handle(_ command: Command) {
        switch command {
        case .add(let peer):
            guard entries[peer.instance] == nil else { return }
            entries[peer.instance] = Entry(peer: peer, due: loop.now)
        case .remove(let peer):
            guard let entry = entries.removeValue(forKey: peer.instance), entry.reported != nil else { return }
            onEvent(.removed(instance: peer.instance))
        case .refresh(let instance):
            guard let entry = entries[instance], entry.due == nil else { return }
            // The caller counts failed connection attempts. Only failed lookups count here.
            entries[instance]?.due = earliest(entry)
        case .lookUp(let instance):
            guard let entry = entries[instance], entry.peer.address == nil else { return }
            entries[instance]?.due = entry.due.map { min($0, earliest(entry)) } ?? earliest(entry)
        case .stop(let done):
            loop.finish()
            done()
        }
    }

    func turnEnded() {
        // Handle one peer at a time, so that commands that arrived during a slow lookup are handled
        // first.
        let next = entries.min { one, other in
            switch (one.value.due, other.value.due) {
            case (let one?, let other?): one < other
            case (_?, nil): true
            case (nil, _): false
            }
        }
        guard let entry = next?.value, let due = entry.due, !loop.isFinished else { return }
        if due <= loop.now { update(entry) }
        timer?.set(entries.values.compactMap(\.due).min())
    }

    func end() {}

    private func earliest(_ entry: Entry) -> MonotonicInstant {
        max(loop.now, entry.lookedUp.map { $0 + Self.minInterval } ?? loop.now)
    }

    private func postpone(_ instance: String) {
        guard var entry = entries[instance] else { return }
        entry.due = loop.now + entry.backoff.next()
        entries[instance] = entry
    }

    private func update(_ entry: Entry) {
        let instance = entry.peer.instance
        let addresses = entry.peer.address.map { [$0] } ?? resolve(entry.peer)
        entries[instance]?.due = nil
        entries[instance]?.lookedUp = loop.now
        guard !addresses.isEmpty else {
            logger.info("Cannot look up a configured peer", ["peer": entry.peer.description])
            postpone(instance)
            return
        }
        let service = DiscoveredService(instance: instance, port: entry.peer.port, addresses: addresses)
        entries[instance]?.backoff.reset()
        entries[instance]?.reported = service
        // Report the service even without a change: the requester of a refresh waits for it before
        // it connects again.
        onEvent(.service(service))
    }
}
