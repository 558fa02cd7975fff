/// What one authenticated device may do in a second, over all its datagrams and connections together.
package struct MemberBudget: Sendable {
    /// What becomes of one more event.
    package enum Verdict: Sendable, Equatable {
        /// It is within the limit.
        case admit

        /// It is above the limit and is dropped.
        case drop

        /// It is ten times above: the connection is closed, and the device is left alone for a while.
        case close
    }

    /// A limit, and the tenfold of it.
    private struct Pair: Sendable {
        var limit: RateLimit
        var excess: RateLimit

        init(perSecond: UInt64) {
            limit = RateLimit(perSecond: perSecond)
            excess = RateLimit(perSecond: perSecond * 10)
        }

        mutating func admit(at now: BootInstant) -> Verdict {
            guard excess.admit(at: now) else { return .close }
            return limit.admit(at: now) ? .admit : .drop
        }
    }

    /// Adverts: 50 a second.
    private var adverts = Pair(perSecond: 50)

    /// Requests, notices and hellos: 20 a second.
    private var requests = Pair(perSecond: 20)

    /// Requests for streams, which apps open by the hundreds.
    private var openings = RateLimit(perSecond: 100, burst: 1000)

    /// The same at the tenfold.
    private var openingExcess = RateLimit(perSecond: 1000, burst: 10_000)

    /// Merges of statements: 4 a second, and 16 at once, as when a device joins. None is dropped: those above it wait.
    private var merges = RateLimit(perSecond: 4, burst: 16)

    /// Account keys: one is enough, and each may be looked at in the roster.
    private var epochKeys = Pair(perSecond: 5)

    /// Connections that the device makes: some at once when the network comes back.
    private var connections = RateLimit(perSecond: 10, burst: 40)

    /// Nothing used yet.
    package init() {}

    /// One more advert that the device has signed.
    package mutating func admitAdvert(at now: BootInstant) -> Verdict {
        adverts.admit(at: now)
    }

    /// One more request, notice or hello.
    package mutating func admitRequest(at now: BootInstant) -> Verdict {
        requests.admit(at: now)
    }

    /// One more request for a stream.
    package mutating func admitOpening(at now: BootInstant) -> Verdict {
        guard openingExcess.admit(at: now) else { return .close }
        return openings.admit(at: now) ? .admit : .drop
    }

    /// One more account key that the device hands over.
    package mutating func admitEpochKey(at now: BootInstant) -> Verdict {
        epochKeys.admit(at: now)
    }

    /// True when one more connection of the device is taken.
    package mutating func admitConnection(at now: BootInstant) -> Bool {
        connections.admit(at: now)
    }

    /// How long one more set of statements has to wait.
    package mutating func delayStatements(at now: BootInstant) -> Duration {
        merges.delay(at: now)
    }
}
