import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// Calls the configured addresses until their devices are known, and again when they are gone. Lives on the daemon's
/// loop.
final class StaticPeers {
    /// How soon an address is called again, at first and at most.
    private static let backoff: (first: Duration, most: Duration) = (.seconds(1), .seconds(60))

    private struct Entry {
        var device: DeviceID?
        var failures = 0
        var isCalling = false
        /// Calls since a device last answered, each with the key of another epoch.
        var turn = 0
        var timer: LoopTimer?
    }

    private let loop: EventLoop
    private let log: Logger
    private let discovery: StaticDiscovery
    private let pool: LinkPool
    private let isThere: (DeviceID) -> Bool
    private let unixSeconds: () -> UInt64
    private var entries: [StaticAddress: Entry] = [:]

    init(
        loop: EventLoop, log: Logger, discovery: StaticDiscovery, pool: LinkPool,
        isThere: @escaping (DeviceID) -> Bool, unixSeconds: @escaping () -> UInt64
    ) {
        self.loop = loop
        self.log = log
        self.discovery = discovery
        self.pool = pool
        self.isThere = isThere
        self.unixSeconds = unixSeconds
    }

    /// The addresses, with the device that answered there.
    var addresses: [(address: StaticAddress, device: DeviceID?)] {
        entries.map { ($0.key, $0.value.device) }.sorted { $0.0.text < $1.0.text }
    }

    /// Begins to call an address.
    func add(_ address: StaticAddress) {
        guard entries[address] == nil else { return }
        entries[address] = Entry()
        if let peer = StaticPeer(text: address.text) { discovery.add(peer) }
    }

    /// Forgets an address; a connection to it lives on until it is idle.
    func remove(_ address: StaticAddress) {
        entries[address] = nil
        if let peer = StaticPeer(text: address.text) { discovery.remove(peer) }
    }

    /// An address was resolved.
    func found(_ service: DiscoveredService) {
        guard let address = entries.keys.first(where: { Self.instance($0) == service.instance }) else { return }
        guard !service.addresses.isEmpty else { return retry(address) }
        call(address, at: service.addresses)
    }

    /// Calls again where nobody is known to be: the account, the network or the devices have changed.
    func review() {
        for (address, entry) in entries where !isSettled(entry) && !entry.isCalling {
            entries[address]?.failures = 0
            retry(address)
        }
    }

    /// Takes the members as they are now: an address of one that is no more is anybody's.
    func accountChanged(live: Set<DeviceID>) {
        for (address, entry) in entries {
            if let device = entry.device, !live.contains(device) { entries[address]?.device = nil }
        }
        review()
    }

    /// The name under which static discovery tells of an address.
    private static func instance(_ address: StaticAddress) -> String {
        StaticPeer(text: address.text)?.instance ?? address.text
    }

    private func isSettled(_ entry: Entry) -> Bool {
        entry.device.map(isThere) ?? false
    }

    private func call(_ address: StaticAddress, at addresses: [SocketAddress]) {
        guard let entry = entries[address], !entry.isCalling, !isSettled(entry),
            let epoch = Self.epoch(ofTurn: entry.turn, in: pool.ring)
        else { return }
        entries[address]?.isCalling = true
        entries[address]?.turn += 1
        // Its label is not known: a label that both sides make from the clock stands in for it.
        pool.call(
            label: Gate.staticLabel(labelKey: epoch.label, unixSeconds: unixSeconds()),
            gate: (isHeld: epoch.isHeld, key: epoch.gate),
            scope: epoch.isHeld && pool.ring.isCurrent ? .full : .rosterOnly, addresses: addresses, isFixed: true
        ) { [self] link in
            entries[address]?.isCalling = false
            guard let link else { return retry(address) }
            entries[address]?.turn = 0
            entries[address]?.failures = 0
            // One that was left behind is called again once it has the key in force.
            guard epoch.isHeld else { return retry(address) }
            entries[address]?.device = link.device
        }
    }

    /// The keys that a call is made with: a device that was away knows only those of the epoch in which it was left behind,
    /// so every second call tries a former one, the latest first.
    private static func epoch(
        ofTurn turn: Int, in ring: KeyRing
    ) -> (isHeld: Bool, label: SecretBytes, gate: SecretBytes)? {
        guard let held = ring.held else { return nil }
        guard ring.isCurrent, !turn.isMultiple(of: 2), !ring.former.isEmpty else {
            return (true, held.label, held.gate)
        }
        let former = ring.former[ring.former.count - 1 - (turn / 2) % ring.former.count]
        return (false, former.label, former.gate)
    }

    private func retry(_ address: StaticAddress) {
        guard let entry = entries[address], entry.timer?.isArmed != true else { return }
        let wait = min(Self.backoff.first * (1 << min(entry.failures, 6)), Self.backoff.most)
        entries[address]?.failures += 1
        do {
            entries[address]?.timer = try loop.timer(after: wait, accuracy: .milliseconds(200)) { [unowned self] in
                discovery.refresh(instance: Self.instance(address))
            }
        } catch {
            log.error("Cannot set the timer of a static peer", ["error": "\(error)"])
        }
    }
}
