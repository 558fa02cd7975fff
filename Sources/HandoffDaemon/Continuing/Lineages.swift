import HandoffModel
import HandoffPeers
import HandoffProtocol
import LoopIO

/// Finds the known states of one activity on all devices. Lives on the daemon's loop.
///
/// The lists of offers and the kept copies contain lineages. A device whose list is not known yet may
/// have a state that is not found.
final class Lineages {
    /// A state of an activity.
    fileprivate struct State {
        let device: DeviceID
        let activity: ActivityID
        let lineage: Lineage
        /// The number of seconds since the device got it, or since a copy was saved.
        let age: Double
        /// True if its device offers it now.
        let isOffered: Bool
    }

    private let loop: EventLoop
    private let wallClock: any WallClock
    private let peers: Peers
    private let apps: AppService

    init(loop: EventLoop, wallClock: any WallClock, peers: Peers, apps: AppService) {
        self.loop = loop
        self.wallClock = wallClock
        self.peers = peers
        self.apps = apps
    }

    /// Returns the newest state that follows another one, or that began from the same one on another
    /// device; nil if there is none.
    ///
    /// - Parameter device: the device of the other one. It may have the same state under two ids.
    func newer(than lineage: Lineage, of activity: ActivityID, on device: DeviceID) -> NewerState? {
        let newer = states.filter { other in
            guard other.lineage.id == lineage.id, other.activity != activity else { return false }
            return other.lineage.step > lineage.step
                || other.lineage.step == lineage.step && lineage.step > 0 && other.device != device
        }
        return newest(of: newer)
    }

    /// Returns the newest state, preferably one that is on offer.
    private func newest(of states: [State]) -> NewerState? {
        states.max { ($0.lineage.step, $0.isOffered ? 1 : 0, $1.age) < ($1.lineage.step, $1.isOffered ? 1 : 0, $0.age) }
            .map(description)
    }

    /// Returns the newest states on other devices that follow local activities, by their handles.
    ///
    /// - Parameter offers: the ids under which other devices have received the activities, by their handles.
    func newest(
        following activities: [LocalActivity], receivedAs offers: [ActivityID: Set<ActivityID>]
    ) -> [ActivityID: NewerState] {
        let own = peers.table.own
        let others = Dictionary(grouping: states.filter { $0.device != own }, by: \.lineage.id)
        var found: [ActivityID: NewerState] = [:]
        for activity in activities {
            var present = activity.content.lineage
            if present == nil, let offer = activity.offer?.id { present = Lineage(id: offer, step: 0) }
            let ids = offers[activity.id, default: []].union([present?.id].compactMap(\.self))
            let step = present?.step ?? 0
            found[activity.id] = newest(of: ids.flatMap { others[$0] ?? [] }.filter { $0.lineage.step > step })
        }
        return found
    }

    private func description(of state: State) -> NewerState {
        NewerState(
            activity: state.activity, device: state.device, deviceName: peers.origin(of: state.device).deviceName,
            here: state.device == peers.table.own, since: wallClock.secondsSince1970 - state.age)
    }

    private var states: [State] {
        let (own, now) = (peers.table.own, loop.now)
        let local = apps.offers().map { State(own, $0.activity, age: Double($0.activity.age)) }
        let offered = peers.table.all.flatMap(\.offers).map {
            State($0.device, $0.activity, age: Double($0.age(at: now)))
        }
        let kept = peers.kept.store.activities.map {
            State(
                $0.origin, $0.summary, age: Double($0.saved.duration(to: now).components.seconds), isOffered: false)
        }
        return local + offered + kept
    }
}

extension Lineages.State {
    fileprivate init(_ device: DeviceID, _ activity: ActivitySummary, age: Double, isOffered: Bool = true) {
        self.init(
            device: device, activity: activity.id, lineage: activity.ownLineage, age: age, isOffered: isOffered)
    }
}
