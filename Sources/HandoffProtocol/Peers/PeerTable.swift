package import HandoffModel
package import Timing

/// The devices that are there, what they offer and where they are: the only judge of what an authenticated
/// announcement changes. Owned by the daemon's thread; reads no clock.
///
/// docs/state-machines/peer-table.md shows how a device comes and goes.
package struct PeerTable: Sendable {
    /// The longest that offers, and the device itself, are believed without renewal; announcements are renewed every
    /// four minutes, or eight to save power.
    package static let maxLifetime = Duration.seconds(600)

    /// What remains of a device that has gone, so that old announcements of it are still known to be old.
    struct Trace: Sendable, Equatable {
        /// Number of its last start.
        let boot: UInt64

        /// Number of the last change in that start; nil when it announced nothing since.
        let seq: UInt32?

        /// When that was first heard; a repetition prolongs nothing.
        let heard: MonotonicInstant

        /// True when it said goodbye: then even a repetition of its last announcement is stale.
        let isFinal: Bool

        /// When it said that it goes to sleep; nil when it did not.
        let asleep: MonotonicInstant?

        /// True when a position is later than all that the device has said.
        func isBefore(_ position: Position) -> Bool {
            guard position.boot == boot, let seq else { return position.boot >= boot }
            return position.seq > seq
        }
    }

    /// How long offers, and the device itself, are believed here without renewal.
    package var lifetime: Duration

    /// This device.
    package let own: DeviceID

    /// This device's present position; the driver keeps it.
    package var ownPosition: Position

    /// Number of the change in the present start since which this device's activities are the same; the driver keeps it.
    package var ownListSeq: UInt32 = 0

    var peers: [DeviceID: Peer] = [:]

    /// At most one for every device of the roster; ``retain(_:)`` drops the others.
    var traces: [DeviceID: Trace] = [:]

    /// The devices that are searched for.
    package internal(set) var lost: [DeviceID: LostDevice] = [:]

    /// An empty table of device `own`, whose announcements are at `ownPosition`.
    package init(own: DeviceID, ownPosition: Position, lifetime: Duration = maxLifetime) {
        self.lifetime = lifetime
        self.own = own
        self.ownPosition = ownPosition
    }

    /// The device, if it is there.
    package subscript(_ id: DeviceID) -> Peer? {
        peers[id]
    }

    /// Whether the device is there: cheaper than the device itself.
    func contains(_ id: DeviceID) -> Bool {
        peers.index(forKey: id) != nil
    }

    /// True if it is the label of a device that is there, whichever epoch's key made it.
    package func knows(_ label: Label) -> Bool {
        peers.values.contains { $0.label == label }
    }

    /// All devices that are there, in order of their ids, so that output is stable.
    package var all: [Peer] {
        peers.values.sorted { $0.deviceID < $1.deviceID }
    }

    /// How many devices are there.
    package var count: Int {
        peers.count
    }

    /// Greatest start number of a device that was seen, to tell it in hello.
    package func seenBoot(of id: DeviceID) -> UInt64? {
        let known = [peers[id]?.boot, traces[id]?.boot].compactMap { $0 }
        return known.max()
    }

    /// Since when a device is asleep, by its own word; nil of one that is there, or has gone in another way.
    package func asleepSince(_ id: DeviceID) -> MonotonicInstant? {
        traces[id]?.asleep
    }

    /// Whether a device announced that it leaves or sleeps, and nothing newer of it has arrived.
    package func hasLeft(_ id: DeviceID) -> Bool {
        traces[id]?.isFinal == true
    }

    /// The device whose service has this instance name.
    package func device(ofInstance name: String) -> DeviceID? {
        peers.values.first { $0.instances.contains(name) }?.deviceID
    }

    /// True when some device has proved that it is at this address; such sources go first when datagrams are many.
    package func isProvedSource(_ address: PeerAddress) -> Bool {
        peers.values.contains { $0.candidates.isProved(address) }
    }

    /// The next moment at which ``expire(at:)`` has something to do.
    package var nextDeadline: MonotonicInstant? {
        var next: MonotonicInstant?
        for peer in peers.values {
            if peer.connectionCount == 0 {
                let end = peer.renewed + lifetime
                next = min(next ?? end, end)
            }
            if let end = peer.firstExpiry { next = min(next ?? end, end) }
        }
        for device in lost.values {
            let end = device.since + Self.searchLimit
            next = min(next ?? end, end)
        }
        return next
    }

    /// Forgets what was not renewed in time; a device with an open connection stays, without stale offers.
    package mutating func expire(at now: MonotonicInstant) -> [PeerChange] {
        var changes: [PeerChange] = []
        lost = lost.filter { now < $0.value.since + Self.searchLimit }
        for id in peers.keys.sorted() {
            guard var peer = peers[id] else { continue }
            if peer.connectionCount == 0, peer.renewed + lifetime <= now {
                changes += lose(id, because: .silent, at: now)
                continue
            }
            let valid = peer.offers.filter { $0.expires > now }
            guard valid.count < peer.offers.count else { continue }
            peer.offers = valid
            peers[id] = peer
            changes.append(.offersChanged(id))
        }
        return changes
    }

    /// Forgets a device that has gone.
    ///
    /// - Parameter asleep: when it said that it goes to sleep.
    package mutating func remove(
        _ id: DeviceID, because reason: DepartureReason, asleep: MonotonicInstant? = nil
    ) -> [PeerChange] {
        guard let peer = peers.removeValue(forKey: id) else { return [] }
        traces[id] = Trace(
            boot: peer.boot, seq: peer.seq, heard: peer.renewed, isFinal: reason == .goodbye || reason == .asleep,
            asleep: asleep)
        return [.gone(id, reason)]
    }

    /// Forgets every device that is not in `live`, with its traces; after each change of the roster.
    package mutating func retain(_ live: Set<DeviceID>) -> [PeerChange] {
        let leaving = peers.keys.filter { !live.contains($0) }.sorted()
        let changes = leaving.flatMap { remove($0, because: .removed) }
        traces = traces.filter { live.contains($0.key) }
        lost = lost.filter { live.contains($0.key) }
        return changes
    }
}

/// What became different in a ``PeerTable``, for those who show it or act on it.
package enum PeerChange: Sendable, Equatable {
    /// A device is there that was not.
    case appeared(DeviceID)

    /// Label, port, kind, roster digest or epoch of a device are others than before.
    case changed(DeviceID)

    /// The offers of a device are others than before; age alone does not count.
    case offersChanged(DeviceID)

    /// A device offers more than it announced: fetch the whole list.
    case moreToFetch(DeviceID)

    /// A device is gone, with all that it offered.
    case gone(DeviceID, DepartureReason)
}

/// Why a device is no longer there.
package enum DepartureReason: Sendable, Equatable {
    /// It said so itself.
    case goodbye

    /// It said that its machine goes to sleep.
    case asleep

    /// Nothing was heard of it for ten minutes.
    case silent

    /// Probes remained unanswered, or a call failed as well as a probe.
    case unreachable

    /// It is no longer live in the roster.
    case removed
}

extension PeerTable {
    /// Forgets a device that says itself why it goes.
    mutating func remove(_ id: DeviceID, saying farewell: Farewell, at now: MonotonicInstant) -> [PeerChange] {
        switch farewell {
        case .goodbye: remove(id, because: .goodbye)
        case .sleep: remove(id, because: .asleep, asleep: now)
        }
    }
}
