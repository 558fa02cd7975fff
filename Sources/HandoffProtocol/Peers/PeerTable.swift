package import HandoffModel

/// The online devices with their offers and addresses. It alone decides what an authenticated
/// announcement changes. The daemon's thread owns it. It does not read the clock.
///
/// docs/state-machines/peer-table.md shows how a device appears and disappears.
package struct PeerTable: Sendable {
    /// The maximum time for which offers, and the device itself, are valid without renewal.
    /// Announcements are renewed every four minutes, or every eight to save power.
    package static let maxLifetime = Duration.seconds(600)

    /// The record of a device that is offline, by which its old announcements are recognised as
    /// old.
    struct Trace: Sendable, Equatable {
        let generation: UInt64

        /// The number of the last change in that generation; nil if it announced nothing since.
        let seq: UInt32?

        /// The time at which that change was first received. A repetition does not extend it.
        let received: MonotonicInstant

        /// True if it announced that it was leaving. Even a repetition of its last announcement is
        /// then stale.
        let isFinal: Bool

        /// The time at which it announced that it was going to sleep; nil if it did not.
        let asleep: MonotonicInstant?

        /// The device with its last addresses, while it is searched for.
        var unreachable: UnreachableDevice?

        /// Returns true if a position is later than all announcements of the device.
        func isBefore(_ position: Position) -> Bool {
            guard position.generation == generation, let seq else { return position.generation >= generation }
            return position.seq > seq
        }
    }

    /// The time for which this device considers offers, and the device itself, valid without
    /// renewal.
    package var lifetime: Duration

    package let own: DeviceID

    /// This device's current position, set by the driver.
    package var ownPosition: Position

    /// The number of the change in the current generation since which this device's activities are
    /// unchanged, set by the driver.
    package var ownListSeq: UInt32 = 0

    var peers: [DeviceID: Peer] = [:]

    /// At most one for every device of the roster. ``retain(_:)`` removes the others.
    var traces: [DeviceID: Trace] = [:]

    /// Creates an empty table for device `own`, whose announcements are at `ownPosition`.
    package init(own: DeviceID, ownPosition: Position, lifetime: Duration = maxLifetime) {
        self.lifetime = lifetime
        self.own = own
        self.ownPosition = ownPosition
    }

    /// The device, or nil if it is not online.
    package subscript(_ id: DeviceID) -> Peer? {
        peers[id]
    }

    /// Returns whether the device is online. This is cheaper than getting the device.
    func contains(_ id: DeviceID) -> Bool {
        peers.index(forKey: id) != nil
    }

    /// Returns true if it is the label of an online device, for any epoch's key.
    package func knows(_ label: Label) -> Bool {
        peers.values.contains { $0.label == label }
    }

    /// All online devices in order of their ids, so that output is stable.
    package var all: [Peer] {
        peers.values.sorted { $0.deviceID < $1.deviceID }
    }

    /// The number of online devices.
    package var count: Int {
        peers.count
    }

    /// Returns the greatest recorded generation of a device, to send in the hello.
    package func seenGeneration(of id: DeviceID) -> UInt64? {
        let known = [peers[id]?.generation, traces[id]?.generation].compactMap { $0 }
        return known.max()
    }

    /// Returns the time at which a device announced that it was going to sleep; nil if it is online
    /// or disappeared in another way.
    package func asleepSince(_ id: DeviceID) -> MonotonicInstant? {
        traces[id]?.asleep
    }

    /// Returns whether a device announced that it was leaving or going to sleep, and nothing newer
    /// has arrived from it.
    package func hasLeft(_ id: DeviceID) -> Bool {
        traces[id]?.isFinal == true
    }

    /// Returns the device whose service has this instance name.
    package func device(ofInstance name: String) -> DeviceID? {
        peers.values.first { $0.instances.contains(name) }?.deviceID
    }

    /// Returns true if a device has proved this address. Such sources have priority when there are
    /// many datagrams.
    package func isProvedSource(_ address: PeerAddress) -> Bool {
        peers.values.contains { $0.candidates.isProved(address) }
    }

    /// The next time at which ``expire(at:)`` has work.
    package var nextDeadline: MonotonicInstant? {
        var next: MonotonicInstant?
        for peer in peers.values {
            if peer.connectionCount == 0 {
                let end = peer.renewed + lifetime
                next = min(next ?? end, end)
            }
            if let end = peer.firstExpiry { next = min(next ?? end, end) }
        }
        for case let device? in traces.values.lazy.map(\.unreachable) {
            let end = device.since + Self.searchLimit
            next = min(next ?? end, end)
        }
        return next
    }

    /// Removes everything that was not renewed in time. A device with an open connection stays,
    /// without its stale offers.
    package mutating func expire(at now: MonotonicInstant) -> [PeerChange] {
        var changes: [PeerChange] = []
        for (id, trace) in traces {
            if let device = trace.unreachable, device.since + Self.searchLimit <= now { traces[id]?.unreachable = nil }
        }
        for id in peers.keys.sorted() {
            guard var peer = peers[id] else { continue }
            if peer.connectionCount == 0, peer.renewed + lifetime <= now {
                changes += drop(id, because: .silent, at: now)
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

    /// Removes a device.
    ///
    /// - Parameters:
    ///   - asleep: The time at which it announced that it was going to sleep.
    ///   - unreachable: The device, if it is to be searched for.
    package mutating func remove(
        _ id: DeviceID, because reason: DepartureReason, asleep: MonotonicInstant? = nil,
        searchingFor unreachable: UnreachableDevice? = nil
    ) -> [PeerChange] {
        guard let peer = peers.removeValue(forKey: id) else { return [] }
        traces[id] = Trace(
            generation: peer.generation, seq: peer.seq, received: peer.renewed,
            isFinal: reason == .goodbye || reason == .asleep,
            asleep: asleep, unreachable: unreachable)
        return [.gone(id, reason)]
    }

    /// Removes every device that is not in `live`, including its trace. Call it after each change
    /// of the roster.
    package mutating func retain(_ live: Set<DeviceID>) -> [PeerChange] {
        let leaving = peers.keys.filter { !live.contains($0) }.sorted()
        let changes = leaving.flatMap { remove($0, because: .removed) }
        traces = traces.filter { live.contains($0.key) }
        return changes
    }
}

/// A change in a ``PeerTable``, for display or further action.
package enum PeerChange: Sendable, Equatable {
    /// A device came online.
    case appeared(DeviceID)

    /// The label, port, kind, roster digest or epoch of a device changed.
    case changed(DeviceID)

    /// The offers of a device changed. A change of age alone does not count.
    case offersChanged(DeviceID)

    /// A device offers more than it announced. Fetch the whole list.
    case moreToFetch(DeviceID)

    /// A device went offline, together with all its offers.
    case gone(DeviceID, DepartureReason)
}

/// The reason why a device is no longer online.
package enum DepartureReason: Sendable, Equatable {
    /// It announced that it was leaving.
    case goodbye

    /// It announced that its machine was going to sleep.
    case asleep

    /// Nothing was received from it for ten minutes.
    case silent

    /// Probes were not answered, or a connection attempt and a probe failed.
    case unreachable

    /// It is no longer live in the roster.
    case removed
}

extension PeerTable {
    /// Removes a device that announced its reason for leaving.
    mutating func remove(_ id: DeviceID, leaveReason: LeaveReason, at now: MonotonicInstant) -> [PeerChange] {
        switch leaveReason {
        case .goodbye: remove(id, because: .goodbye)
        case .sleep: remove(id, because: .asleep, asleep: now)
        }
    }
}
