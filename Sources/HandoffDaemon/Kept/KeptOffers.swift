import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// Lists the kept activities that can be continued on this device. Lives on the daemon's loop.
final class KeptOffers {
    private let loop: EventLoop
    private let key: SigningKey
    private let own: DeviceID
    private let peers: Peers
    private let apps: AppService
    private let receipts: KeptReceipts
    private let accountStore: AccountStore
    private let wallClock: any WallClock
    /// The opened activities that were sent to this device.
    private var items: [ActivityID: Item] = [:]

    init(
        loop: EventLoop, key: SigningKey, accountStore: AccountStore, peers: Peers, apps: AppService,
        receipts: KeptReceipts, wallClock: any WallClock
    ) {
        self.loop = loop
        self.key = key
        own = accountStore.deviceID
        self.accountStore = accountStore
        self.peers = peers
        self.apps = apps
        self.receipts = receipts
        self.wallClock = wallClock
    }

    /// An offer of a device that is offline, or whose app has ended.
    struct KeptOffer {
        let offer: Offer
        let kept: KeptStore.Kept
        let state: ControlKept
        /// The payload that was sealed for this device; nil if the copy is not sealed.
        var opened: LockedBytes?

        /// The payload, in ordinary memory.
        var payload: [UInt8] { opened?.bytes ?? kept.payload }
    }

    /// The kept activities of other devices, most recently saved first.
    ///
    /// - Parameter isRecent: includes those of former generations, and of this device.
    func list(isRecent: Bool = false) -> [KeptOffer] {
        guard peers.kept.isOn else { return [] }
        return peers.kept.store.activities.compactMap { kept in
            guard isRecent || kept.origin != own, let state = state(of: kept, isRecent: isRecent) else { return nil }
            guard kept.summary.type == .sealed else {
                let offer = Offer(of: kept.origin, keeping: kept.summary, saved: kept.saved)
                return KeptOffer(offer: offer, kept: kept, state: state)
            }
            guard let item = item(in: kept) else { return nil }
            let offer = Offer(of: kept.origin, keeping: item.summary, saved: kept.saved)
            return KeptOffer(offer: offer, kept: kept, state: state, opened: item.payload)
        }
    }

    /// An activity that was sent to this device, and kept by another one.
    private struct Item {
        let stamp: KeptStamp
        let summary: ActivitySummary
        let payload: LockedBytes
    }

    /// Returns the activity in a sealed copy; nil if it is for another device, or was accepted here.
    private func item(in kept: KeptStore.Kept) -> Item? {
        let id = kept.summary.id
        guard !receipts.hasContinued(kept) else { return nil }
        if let item = items[id], item.stamp == kept.stamp { return item }
        guard case .success(let outer) = Payload.decode(kept.payload, from: ""),
            outer.content.userInfo["to"]?.string == own.hex,
            let sealed = outer.content.userInfo["sealed"]?.object?["$data"]?.string.flatMap(Base64.decode),
            let opened = try? accountStore.snapshot.seal(with: kept.origin, sender: kept.origin, key: key)?.open(
                sealed, id),
            case .success(let payload) = Payload.decode(opened, from: ""), let bytes = LockedBytes(opened)
        else { return nil }
        let content = payload.content
        let summary = ActivitySummary(
            id: id, type: content.type, title: content.title, team: content.team,
            supportsStreams: content.supportsStreams, hasWebpageURL: content.webpageURL != nil, age: kept.summary.age,
            isSent: true)
        items = items.filter { entry in peers.kept.store.activities.contains { $0.summary.id == entry.key } }
        items[id] = Item(stamp: kept.stamp, summary: summary, payload: bytes)
        return items[id]
    }

    /// Returns the copy of an offer whose device does not answer, although it was online; nil if there
    /// is none.
    func copy(of offer: Offer) -> KeptOffer? {
        guard peers.kept.isOn, let kept = peers.kept.store.activity(offer.activity.id, of: offer.device),
            kept.summary.type != .sealed
        else { return nil }
        let asOf = wallClock.secondsSince1970 - seconds(kept.saved.duration(to: loop.now))
        return KeptOffer(offer: offer, kept: kept, state: ControlKept(.offline, since: nil, asOf: asOf))
    }

    private func state(of kept: KeptStore.Kept, isRecent: Bool) -> ControlKept? {
        let asOf = wallClock.secondsSince1970 - seconds(kept.saved.duration(to: loop.now))
        let generation = kept.stamp.position.generation
        guard kept.origin != own else {
            return apps.offered(kept.summary.id) == nil ? ControlKept(.ended, since: nil, asOf: asOf) : nil
        }
        let peer = peers.table[kept.origin]
        guard isRecent || generation == peers.table.seenGeneration(of: kept.origin) ?? generation else { return nil }
        guard let peer else {
            let since = peers.asleepSince(kept.origin).map { Double($0) }
            return ControlKept(since == nil ? .offline : .asleep, since: since, asOf: asOf)
        }
        guard !peer.offers.contains(where: { $0.activity.id == kept.summary.id }) else { return nil }
        guard !isRecent else { return ControlKept(.ended, since: nil, asOf: asOf) }
        // The list of kept activities may be older than the offers.
        guard peer.isComplete, let list = peers.kept.store.list(of: kept.origin),
            list.stamp.position.generation == peer.generation, list.stamp.position.seq >= peer.offersSeq ?? .max
        else { return nil }
        return ControlKept(.ended, since: nil, asOf: asOf)
    }

    private func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
}
