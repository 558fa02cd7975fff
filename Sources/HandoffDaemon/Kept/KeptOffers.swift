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
    /// The time for which the file of a continued item can be read.
    private static let readingTimeout = Duration.seconds(30)

    private let loop: EventLoop
    private let key: SigningKey
    private let own: DeviceID
    private let peers: Peers
    private let apps: AppService
    private let receipts: KeptReceipts
    private let accountStore: AccountStore
    private let wallClock: any WallClock
    /// The descriptions of the items that were sent to this device; nil for one that cannot be opened.
    private var items: [ItemID: (stamps: [KeptStamp], item: Item?)] = [:]
    /// The files of continued items.
    private var reading: [ContinuationID: Reading] = [:]

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
        /// The parts of an item; nil if the copy is not sealed.
        var parts: [KeptStore.Kept]?
    }

    /// Returns the payload of a copy, in ordinary memory; empty if it cannot be opened any more.
    func payload(of offer: KeptOffer) -> [UInt8] {
        guard let parts = offer.parts else { return offer.kept.payload }
        return parts.first.flatMap(open).flatMap { KeptItemContent(first: $0) }?.payload ?? []
    }

    /// The file of an item that was continued here. Its parts stay in memory although the origin may
    /// withdraw them as soon as it learns of the continuation.
    private struct Reading {
        let parts: [KeptStore.Kept]
        let size: Int
        let timer: LoopTimer
    }

    /// The kept activities of other devices, most recently saved first.
    ///
    /// - Parameter isRecent: includes those of former generations, and of this device.
    func list(isRecent: Bool = false) -> [KeptOffer] {
        guard peers.kept.isOn else { return [] }
        return peers.kept.store.activities.compactMap { kept in
            guard isRecent || kept.origin != own, let state = state(of: kept, isRecent: isRecent) else { return nil }
            guard let part = kept.part else {
                let offer = Offer(of: kept.origin, keeping: kept.summary, saved: kept.saved)
                return KeptOffer(offer: offer, kept: kept, state: state)
            }
            guard let (item, parts) = item(in: kept, part) else { return nil }
            var described = state
            described.size = item.summary.type == .content ? item.size : nil
            let offer = Offer(of: kept.origin, keeping: item.summary, saved: kept.saved)
            return KeptOffer(offer: offer, kept: kept, state: described, parts: parts)
        }
    }

    /// An activity that was sent to this device, and kept by another one.
    private struct Item {
        let summary: ActivitySummary
        /// The size of the file in bytes.
        let size: Int
    }

    private struct ItemID: Hashable {
        let origin: DeviceID
        let activity: ActivityID
    }

    /// Returns the activity of which this copy is the first part, and all parts; nil if it is for another
    /// device, a part is missing or invalid, or it was accepted here.
    private func item(in kept: KeptStore.Kept, _ part: KeptPart) -> (Item, parts: [KeptStore.Kept])? {
        guard part.recipient == own, part.number == 0 else { return nil }
        let id = part.item
        guard !receipts.hasContinued(id, of: kept.origin),
            let parts = peers.kept.store.parts(of: part, from: kept.origin)
        else { return nil }
        let key = ItemID(origin: kept.origin, activity: id)
        let stamps = parts.map(\.stamp)
        if let known = items[key], known.stamps == stamps { return known.item.map { ($0, parts) } }
        items = items.filter { peers.kept.store.activity($0.key.activity, of: $0.key.origin) != nil }
        let item = open(parts)
        items[key] = (stamps, item)
        return item.map { ($0, parts) }
    }

    /// Opens all parts of an item, each of which is in ordinary memory for a moment. Only the first part
    /// contains more than the file.
    private func open(_ parts: [KeptStore.Kept]) -> Item? {
        guard let first = parts.first, let opened = open(first), let head = KeptItemContent(first: opened),
            case .success(let payload) = Payload.decode(head.payload, from: "")
        else { return nil }
        var size = head.content.count
        for part in parts.dropFirst() {
            guard let content = open(part) else { return nil }
            size += content.count
        }
        let content = payload.content
        let summary = ActivitySummary(
            id: first.summary.id, type: content.type, title: content.title, team: content.team,
            supportsStreams: content.supportsStreams, hasWebpageURL: content.webpageURL != nil, age: first.summary.age,
            isSent: true)
        return Item(summary: summary, size: size)
    }

    private func open(_ part: KeptStore.Kept) -> [UInt8]? {
        try? accountStore.snapshot.seal(with: part.origin, sender: part.origin, key: key)?.open(part.payload)
    }

    // MARK: - Files of items

    /// Lets the file of an item that was continued be read, for a while.
    func began(_ id: ContinuationID, _ kept: KeptOffer) {
        guard let parts = kept.parts, let size = kept.state.size else { return }
        let timer = loop.timer(after: Self.readingTimeout, accuracy: .seconds(1)) { [unowned self] in reading[id] = nil
        }
        reading[id] = Reading(parts: parts, size: size, timer: timer)
    }

    /// `ReadContent`.
    func read(_ call: ControlCall) throws {
        let request = try ReadContentRequest(json: call.parameters)
        let (id, offset) = (request.continuation, request.offset)
        guard let file = reading[id] else { throw CallError.noSuchContinuation(id.hex) }
        var start = 0
        for (number, part) in file.parts.enumerated() {
            guard let opened = open(part),
                let content = number == 0 ? KeptItemContent(first: opened)?.content : opened[...]
            else { break }
            let end = start + content.count
            if (start..<end).contains(offset) || offset == end && end == file.size {
                if end == file.size { reading[id] = nil }
                return call.reply(
                    ReadContentReply(data: Array(content.dropFirst(offset - start)), size: file.size).json)
            }
            start = end
        }
        throw VarlinkError.invalidParameter("offset")
    }

    /// Returns the copy of an offer whose device does not answer, although it was online; nil if there
    /// is none.
    func copy(of offer: Offer) -> KeptOffer? {
        guard peers.kept.isOn, let kept = peers.kept.store.activity(offer.activity.id, of: offer.device),
            kept.part == nil
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
