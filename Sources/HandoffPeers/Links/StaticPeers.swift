import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// Calls the configured addresses until their devices are known, and again when they are offline.
/// Lives on the daemon's loop.
///
/// Only an answer shows which device is at an address, so one member after the other is called
/// there.
final class StaticPeers {
    private struct Entry {
        var device: DeviceID?
        /// The device that answered last, even if it is offline now.
        var last: DeviceID?
        /// The last resolved addresses of its name.
        var addresses: [SocketAddress] = []
        var failures = 0
        /// The time of the first of these failures.
        var failingSince: MonotonicInstant?
        var isCalling = false
        var timer: LoopTimer?
    }

    private let loop: EventLoop
    private let log: Logger
    private let discovery: StaticDiscovery
    private let pool: LinkPool
    private unowned let network: PeerNetwork
    private var entries: [StaticAddress: Entry] = [:]

    init(
        loop: EventLoop, log: Logger, discovery: StaticDiscovery, pool: LinkPool, network: PeerNetwork
    ) {
        self.loop = loop
        self.log = log
        self.discovery = discovery
        self.pool = pool
        self.network = network
    }

    /// The addresses, each with the device that answered there.
    var addresses: [(address: StaticAddress, device: DeviceID?)] {
        entries.map { ($0.key, $0.value.device) }.sorted { $0.0.text < $1.0.text }
    }

    /// Starts to call an address.
    func add(_ address: StaticAddress) {
        guard entries[address] == nil else { return }
        entries[address] = Entry()
        if let peer = StaticPeer(text: address.text) { discovery.add(peer) }
    }

    /// Forgets an address. A connection to it stays open until it is idle.
    func remove(_ address: StaticAddress) {
        entries[address] = nil
        if let peer = StaticPeer(text: address.text) { discovery.remove(peer) }
    }

    /// Handles newly resolved addresses.
    func found(_ service: DiscoveredService) {
        guard let address = entries.keys.first(where: { Self.instance($0) == service.instance }) else { return }
        guard !service.addresses.isEmpty else { return retry(address) }
        let former = entries[address]?.addresses ?? []
        entries[address]?.addresses = service.addresses
        if let device = entries[address]?.device, isOnline(device) {
            network.resolved(device, to: service.addresses, from: former)
        }
        call(address, at: service.addresses)
    }

    /// Looks up the names of a device again because a call to it is slow, unless they were looked
    /// up just now.
    func lookAgain(for device: DeviceID) {
        for (address, entry) in entries where entry.device == device {
            discovery.lookUp(instance: Self.instance(address))
        }
    }

    /// Calls the addresses without a known device again: the account, the network or the devices
    /// have changed.
    func review() {
        for (address, entry) in entries where !isSettled(entry) && !entry.isCalling && entry.timer?.isArmed != true {
            discovery.refresh(instance: Self.instance(address))
        }
    }

    /// Immediately calls all addresses without a known device: the network has changed.
    func networkChanged() {
        for address in entries.keys {
            entries[address]?.failures = 0
            entries[address]?.failingSince = nil
            entries[address]?.timer = nil
        }
        review()
    }

    /// Applies a change of the account. A former member's address can belong to any device.
    ///
    /// - Parameter hasOtherMembers: true if the change is one of the members.
    func accountChanged(live: Set<DeviceID>, hasOtherMembers: Bool) {
        for (address, entry) in entries {
            if let device = entry.device, !live.contains(device) { entries[address]?.device = nil }
        }
        if hasOtherMembers { networkChanged() } else { review() }
    }

    /// Returns the name under which static discovery reports an address.
    private static func instance(_ address: StaticAddress) -> String {
        StaticPeer(text: address.text)?.instance ?? address.text
    }

    private func isOnline(_ device: DeviceID) -> Bool { network.table[device] != nil }

    private func isSettled(_ entry: Entry) -> Bool {
        entry.device.map(isOnline) ?? false
    }

    private func call(_ address: StaticAddress, at addresses: [SocketAddress]) {
        guard let entry = entries[address], !entry.isCalling, !isSettled(entry) else { return }
        // In rounds: a kind of route that works for one member probably works for all. But all
        // routes to the last device are tried first.
        let routes = candidates(entry).map { device in
            network.staticRoutes(to: device, at: addresses).map { (device: device, route: $0) }
        }
        let last = routes.first.flatMap { $0.first?.device == entry.last ? $0 : nil } ?? []
        let others = last.isEmpty ? routes : Array(routes.dropFirst())
        let rounds = 0..<(others.map(\.count).max() ?? 0)
        let calls = last + rounds.flatMap { round in others.compactMap { $0.dropFirst(round).first } }
        guard !calls.isEmpty else { return }
        entries[address]?.isCalling = true
        call(address, calls[...])
    }

    /// Returns the members that may be at an address: the last one there, then those that are not
    /// known to be elsewhere.
    private func candidates(_ entry: Entry) -> [DeviceID] {
        let others = pool.snapshot.others.sorted()
        let away = others.filter { !isOnline($0) }
        let here = others.filter(isOnline)
        return (away + here).filter { $0 == entry.last } + (away + here).filter { $0 != entry.last }
    }

    private func call(_ address: StaticAddress, _ calls: ArraySlice<(device: DeviceID, route: LinkPool.Route)>) {
        guard entries[address] != nil else { return }
        guard let first = calls.first else {
            entries[address]?.isCalling = false
            return retry(address)
        }
        pool.call(first.device, first.route, isFixed: true) { [self] link, isAnswered in
            // No other member will answer where no host does.
            guard let link else { return call(address, isAnswered ? calls.dropFirst() : []) }
            link.whenEstablished { [self] isEstablished in
                guard isEstablished else { return call(address, calls.dropFirst()) }
                entries[address]?.isCalling = false
                entries[address]?.failures = 0
                entries[address]?.failingSince = nil
                entries[address]?.device = first.device
                entries[address]?.last = first.device
            }
        }
    }

    private func retry(_ address: StaticAddress) {
        guard let entry = entries[address], entry.timer?.isArmed != true else { return }
        let since = entry.failingSince ?? loop.now
        // A device that announced that it leaves or sleeps also announces its return.
        let hasLeft = entry.last.map(network.table.hasLeft) ?? false
        let wait =
            hasLeft
            ? Backoff.roster.delay(after: entry.failures + 1) : SearchDelay.delay(after: since.duration(to: loop.now))
        entries[address]?.failures += 1
        entries[address]?.failingSince = since
        entries[address]?.timer = loop.timer(after: wait, accuracy: .milliseconds(200)) { [unowned self] in
            discovery.refresh(instance: Self.instance(address))
        }
    }
}
