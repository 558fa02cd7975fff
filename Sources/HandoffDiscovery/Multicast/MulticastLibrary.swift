package import LoopIO

/// A common interface to Avahi's two libraries: a thin layer that makes no decisions. It must be
/// used on a discovery thread. Its C callbacks only queue events, which the driver takes at the end
/// of the loop's turn.
package protocol MulticastLibrary: AnyObject {
    /// The kind of library, for events and logs.
    var kind: DiscoveryKind { get }

    /// True if it reports received packets (`MulticastEvent.heard`), so that records that others
    /// announce anyway need not be queried repeatedly.
    var hears: Bool { get }

    /// Connects to the daemon or starts the responder. It may wait for a bus or a daemon. The
    /// outcome is an event, which may be queued before this method returns.
    func open()

    /// Frees everything immediately, without waiting for a daemon. The embedded responder sends
    /// goodbye packets.
    func close()

    /// Returns and removes the events queued since the last call.
    func takeEvents() -> [MulticastEvent]

    /// Sets the predicate for members' instance names, for a library that reads the network itself.
    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool)

    /// Starts a browser for a continuous query.
    func browse(_ query: RecordQuery) throws(MulticastError)

    /// Stops the browser of a query.
    func stopBrowsing(_ query: RecordQuery) throws(MulticastError)

    /// Creates and commits a group of records.
    func makeGroup(_ id: UInt64, records: [PublishedRecord], interface: UInt32?) throws(MulticastError)

    /// Replaces the record with the same name and type in a group.
    func update(_ id: UInt64, record: PublishedRecord, interface: UInt32?) throws(MulticastError)

    /// Withdraws a group; an unknown one is ignored.
    func freeGroup(_ id: UInt64) throws(MulticastError)
}

extension MulticastLibrary {
    package var hears: Bool { false }

    package func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {}
}

/// An event from a library to its driver.
package enum MulticastEvent: Equatable, Sendable {
    /// Browsers and groups can now be created.
    case running
    /// The daemon is not running. The library waits for it.
    case waiting(String)
    /// The library failed. The driver closes it and reopens it later.
    case lost(String)
    case appeared(RecordQuery, RecordLink, [UInt8])
    case vanished(RecordQuery, RecordLink, [UInt8])
    case allForNow(RecordQuery)
    /// A response or announcement and its sender, after the library has read the packet.
    case heard(MulticastPacket, RecordLink, from: IPAddress)
    case browserFailed(RecordQuery, String)
    case groupEstablished(UInt64)
    /// Another device uses a name of the group.
    case groupCollided(UInt64)
    case groupFailed(UInt64, String)
}

/// The reason why a call into one of Avahi's libraries failed, with one case per reaction.
package enum MulticastError: Error, Equatable, Sendable {
    /// The daemon or bus is missing or not responding. The library must be closed. The text is
    /// Avahi's.
    case disconnected(String)
    /// The names are already used, by this device or another program on this machine.
    case collision(String)
    /// Only this call failed. Another one may succeed later.
    case refused(String)
    /// A limit in avahi-daemon's configuration was reached.
    case limited(String)

    /// Avahi's text.
    var reason: String {
        switch self {
        case .disconnected(let reason), .collision(let reason), .refused(let reason), .limited(let reason): reason
        }
    }
}
