package import LoopIO

/// One of Avahi's two libraries behind the same few calls: a thin layer without decisions. Lives on a discovery thread;
/// its C callbacks only queue events, which the driver takes at the end of the loop's turn.
package protocol MulticastLibrary: AnyObject {
    /// What this library is, for events and logs.
    var kind: DiscoveryKind { get }

    /// Whether it tells what it hears (`MulticastEvent.heard`), so that nobody has to go on asking for what others say anyway.
    var hears: Bool { get }

    /// Connects to the daemon, or starts the responder. It may take until a bus or a daemon answers; the outcome is an
    /// event, maybe queued before this returns.
    func open()

    /// Frees everything at once, without waiting for a daemon. With the embedded responder, goodbyes are sent.
    func close()

    /// Takes the events that were queued since the last call.
    func takeEvents() -> [MulticastEvent]

    /// Takes what tells a member's instance from others, for a library that reads the network itself.
    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool)

    /// Asks and keeps asking.
    func browse(_ query: RecordQuery) throws(MulticastError)

    /// Ends one of these.
    func stopBrowsing(_ query: RecordQuery) throws(MulticastError)

    /// Makes and commits a group of records.
    func makeGroup(_ id: UInt64, records: [PublishedRecord], interface: UInt32?) throws(MulticastError)

    /// Replaces the record of the same name and kind in a group.
    func update(_ id: UInt64, record: PublishedRecord, interface: UInt32?) throws(MulticastError)

    /// Withdraws a group; an unknown one is ignored.
    func freeGroup(_ id: UInt64) throws(MulticastError)
}

extension MulticastLibrary {
    package var hears: Bool { false }

    package func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {}
}

/// What a library tells its driver.
package enum MulticastEvent: Equatable, Sendable {
    /// Browsers and groups can be made now.
    case running
    /// There is no daemon to talk to, but the library waits for it by itself.
    case waiting(String)
    /// It is over: the driver closes the library, and opens it again after a while.
    case lost(String)
    case appeared(RecordQuery, RecordLink, [UInt8])
    case vanished(RecordQuery, RecordLink, [UInt8])
    case allForNow(RecordQuery)
    /// A packet of the network that answers or announces, and who sent it, after the library has read it.
    case heard(MulticastPacket, RecordLink, from: IPAddress)
    /// The browser of that query has failed.
    case browserFailed(RecordQuery, String)
    case groupEstablished(UInt64)
    /// Somebody else has a name of that group.
    case groupCollided(UInt64)
    case groupFailed(UInt64, String)
}

/// Why a call into one of Avahi's libraries failed; one case per reaction.
package enum MulticastError: Error, Equatable, Sendable {
    /// Nobody is there or nobody answers: the library must be closed. The text is Avahi's.
    case disconnected(String)
    /// The names are taken, by us or on this machine.
    case collision(String)
    /// This one call failed; another may work later.
    case refused(String)
    /// A limit of avahi-daemon's configuration is reached.
    case limited(String)

    /// Avahi's text.
    package var reason: String {
        switch self {
        case .disconnected(let reason), .collision(let reason), .refused(let reason), .limited(let reason): reason
        }
    }
}
