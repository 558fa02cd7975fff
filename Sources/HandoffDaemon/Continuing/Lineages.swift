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
    struct State {
        let device: DeviceID
        let activity: ActivityID
        let lineage: Lineage
    }

    private let peers: Peers
    private let apps: AppService

    init(peers: Peers, apps: AppService) {
        self.peers = peers
        self.apps = apps
    }

    /// Returns the newest state that follows another one, or that began from the same one on another
    /// device; nil if there is none.
    func newer(than lineage: Lineage, of activity: ActivityID) -> State? {
        let others = states.filter { $0.lineage.id == lineage.id && $0.activity != activity }
        let newest = others.max { $0.lineage.step < $1.lineage.step }
        guard let newest, newest.lineage.step > lineage.step || newest.lineage.step == lineage.step && lineage.step > 0
        else { return nil }
        return newest
    }

    /// Returns the newest state on another device that follows a local activity; nil if there is none.
    ///
    /// - Parameter offers: the ids under which other devices have received it.
    func newest(following activity: LocalActivity, receivedAs offers: Set<ActivityID>, own: DeviceID) -> State? {
        var present = activity.content.lineage
        if present == nil, let offer = activity.offer?.id { present = Lineage(id: offer, step: 0) }
        let ids = offers.union([present?.id].compactMap(\.self))
        return states.filter { $0.device != own && ids.contains($0.lineage.id) && $0.lineage.step > present?.step ?? 0 }
            .max { $0.lineage.step < $1.lineage.step }
    }

    private var states: [State] {
        let own = peers.table.own
        let local = apps.offers().map { State(device: own, activity: $0.activity.id, lineage: $0.activity.ownLineage) }
        let offered = peers.table.all.flatMap(\.offers).map {
            State(device: $0.device, activity: $0.activity.id, lineage: $0.activity.ownLineage)
        }
        let kept = peers.kept.store.activities.map {
            State(device: $0.origin, activity: $0.summary.id, lineage: $0.summary.ownLineage)
        }
        return local + offered + kept
    }
}
