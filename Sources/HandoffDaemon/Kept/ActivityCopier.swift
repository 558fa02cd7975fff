import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// Signs and seals the copies of the activities of this device. Lives on the daemon's loop.
final class ActivityCopier {
    /// The maximum number of bytes that the name of its file adds to a payload.
    private static let maxAddition = 2048

    private let log: Logger
    private let key: SigningKey
    private let own: DeviceID
    private let peers: Peers
    private let apps: AppService
    private let switches: SwitchController
    private let accountStore: AccountStore
    private let wallClock: any WallClock
    private unowned let core: DaemonCore

    init(
        log: Logger, key: SigningKey, accountStore: AccountStore, peers: Peers, apps: AppService,
        switches: SwitchController, wallClock: any WallClock, core: DaemonCore
    ) {
        self.log = log
        self.key = key
        own = accountStore.deviceID
        self.accountStore = accountStore
        self.peers = peers
        self.apps = apps
        self.switches = switches
        self.wallClock = wallClock
        self.core = core
    }

    /// The local activities that may be kept, most recent first.
    func candidates() -> [KeepingMachine.Candidate] {
        apps.offers().compactMap { offer in
            guard let activity = apps.offered(offer.activity.id),
                activity.keeping == .afterEnd || activity.keeping == .whileOffered && offer.recipient == nil
            else { return nil }
            let candidate = KeepingMachine.Candidate(
                offer: offer.activity.id, handle: activity.id,
                app: apps.registry.session(activity.session)?.app ?? "", type: activity.content.type,
                changes: activity.changes, staysAfterEnd: activity.keeping == .afterEnd && offer.recipient == nil,
                isSent: offer.recipient != nil)
            return mayKeep(candidate) ? candidate : nil
        }
    }

    /// Returns whether other devices may keep the activities of an app and of a type.
    private func mayKeep(_ candidate: KeepingMachine.Candidate) -> Bool {
        candidate.type != .clipboard && switches.policy.forbids(candidate.type) == nil
            && core.isEnabled(candidate.app) && core.isKept(candidate.app)
    }

    /// Returns whether other devices may keep an activity that is no longer on offer.
    func mayStay(_ candidate: KeepingMachine.Candidate) -> Bool {
        guard mayKeep(candidate) else { return false }
        guard let activity = apps.store.activity(candidate.handle) else { return true }
        return activity.keeping == .afterEnd && activity.content.isEligibleForHandoff
    }

    /// The maximum size of all copies of this device: a keeper refuses those above it.
    var limit: Int { KeptLimits.payloadShare(members: accountStore.snapshot.live.count) }

    /// Returns the copies of an activity, several for an item with a large file; nil if no device could
    /// continue it now.
    ///
    /// - Parameters:
    ///   - isUnchanged: true if the last copies have the same state.
    ///   - nextStamp: returns a greater stamp each time.
    func copies(
        of activity: LocalActivity, _ offer: ActivityID, isUnchanged: Bool, nextStamp: () -> KeptStamp
    ) -> [KeptCopy]? {
        guard activity.recipient != nil || activity.bytes <= apps.payloadLimit,
            activity.content.missingRequiredKeys.isEmpty, let payloads = payloads(of: activity, offer, isUnchanged)
        else { return nil }
        var lifetime = KeptLimits.lifetime
        if let expiration = activity.content.expiration {
            let left = expiration - (wallClock.secondsSince1970 - ActivityDescription.epoch)
            guard left > 0 else { return nil }
            lifetime = min(lifetime, UInt64(min(left, Double(lifetime))) + 1)
        }
        do {
            var copies: [KeptCopy] = []
            for (number, payload) in payloads.enumerated() {
                let stamp = nextStamp()
                let copy = try KeptCopy(
                    origin: own, stamp: stamp, activity: KeptPart.activity(of: offer, number: number),
                    end: stamp.time + lifetime, payload: payload, key: key)
                guard let copy else { return nil }
                copies.append(copy)
            }
            return copies
        } catch {
            log.fault("Cannot sign a copy", ["error": "\(error)"])
            return nil
        }
    }

    /// Returns the payload of the copy of an activity, or the sealed parts if it is sent to one device;
    /// nil if it cannot be sealed.
    private func payloads(
        of activity: LocalActivity, _ offer: ActivityID, _ isUnchanged: Bool
    ) -> [[UInt8]]? {
        guard let recipient = activity.recipient else {
            return [JSON.object(activity.content.encodedPayload(origin: activity.origin)).encoded()]
        }
        // The same version, because a keeper may receive only some of the parts before this device sleeps.
        if isUnchanged, let first = peers.kept.store.activity(offer, of: own)?.part,
            let parts = peers.kept.store.parts(of: first, from: own)
        {
            return parts.map(\.payload)
        }
        var content = activity.content
        if let kept = activity.keptContent {
            guard kept.isComplete else { return nil }
            content.userInfo = ["name": .string(kept.name)]
            content.supportsStreams = false
        }
        let item = KeptItemContent.encode(
            payload: JSON.object(content.encodedPayload(origin: activity.origin)).encoded(),
            content: activity.keptContent?.bytes ?? [])
        guard let item else { return nil }
        return try? accountStore.snapshot.seal(with: recipient, sender: own, key: key)?.seal(
            item, offer, for: recipient)
    }

    /// Returns the reason why an item with a file of this size cannot be kept with the other items that were
    /// sent; nil if it can. The size is 0 without a file.
    func refusal(ofFile size: Int, for id: ActivityID) -> String? {
        func bytes(_ activity: LocalActivity, _ content: Int) -> [Int] {
            KeptPart.sizes(KeptItemContent.size(payload: activity.bytes + Self.maxAddition, content: content))
                .map { KeptLimits.size($0) }
        }
        guard peers.kept.isOn else { return "this device has no activities kept" }
        guard let activity = apps.store.activity(id) else { return nil }
        // First, because a client can state any size.
        let mine = size <= limit ? bytes(activity, size) : []
        let members = accountStore.snapshot.live.count
        guard size <= limit, mine.reduce(0, +) <= limit else {
            let content = ByteText.text(Int64(max(size, activity.bytes)))
            return "it has \(content), and the limit in an account of \(members) devices is "
                + "\(ByteText.text(Int64(KeptPart.maxItem(share: limit))))"
        }
        let others = apps.store.all
            .filter { $0.id != id && $0.recipient != nil && $0.keeping == .afterEnd }
            .filter { $0.offer != nil || $0.keptContent != nil }
            .flatMap { bytes($0, $0.keptContent?.size ?? 0) }
        guard (mine + others).reduce(0, +) <= limit, mine.count + others.count <= KeptLimits.maxCopies else {
            return "the items that are kept already leave too little of the limit of "
                + "\(ByteText.text(Int64(KeptPart.maxItem(share: limit)))) and \(KeptLimits.maxCopies) copies"
        }
        return nil
    }
}
