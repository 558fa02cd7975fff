import HandoffModel
package import Timing

/// What one authenticated device may do in a second, over all its datagrams and connections together.
package struct MemberRateLimiter: Sendable {
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

        mutating func admit(at now: MonotonicInstant) -> Verdict {
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
    package mutating func admitAdvert(at now: MonotonicInstant) -> Verdict {
        adverts.admit(at: now)
    }

    /// One more request, notice or hello.
    package mutating func admitRequest(at now: MonotonicInstant) -> Verdict {
        requests.admit(at: now)
    }

    /// One more request for a stream.
    package mutating func admitOpening(at now: MonotonicInstant) -> Verdict {
        guard openingExcess.admit(at: now) else { return .close }
        return openings.admit(at: now) ? .admit : .drop
    }

    /// One more account key that the device hands over.
    package mutating func admitEpochKey(at now: MonotonicInstant) -> Verdict {
        epochKeys.admit(at: now)
    }

    /// True when one more connection of the device is taken.
    package mutating func admitConnection(at now: MonotonicInstant) -> Bool {
        connections.admit(at: now)
    }

    /// How long one more set of statements has to wait.
    package mutating func delayStatements(at now: MonotonicInstant) -> Duration {
        merges.delay(at: now)
    }
}

/// How many datagrams are opened: what arrives beyond it is dropped before any cryptography.
///
/// Sources that a device has proved keep a part of the whole for themselves, so that a flood from elsewhere does not
/// shut them out.
package struct OpeningRateLimiter: Sendable {
    /// Datagrams opened in a second from one host.
    package static let perSource: UInt64 = 200

    /// Datagrams opened in a second in all.
    package static let total: UInt64 = 2000

    /// The part of the total that hosts without proof may use.
    package static let unprovedTotal: UInt64 = 1500

    /// Hosts that are told apart; with more of them the counts start anew and the totals hold alone.
    private static let maxSources = 1024

    private var sources: [PeerAddress: RateLimit] = [:]
    private var all = RateLimit(perSecond: total)
    private var unproved = RateLimit(perSecond: unprovedTotal)

    /// Nothing used yet.
    package init() {}

    /// True when a datagram from `source` may be opened at `now`, and counts it.
    package mutating func admit(from source: PeerAddress, isProved: Bool, at now: MonotonicInstant) -> Bool {
        let host = source.withPort(1) ?? source
        if sources.count >= Self.maxSources, sources[host] == nil { sources.removeAll(keepingCapacity: true) }
        guard sources[host, default: RateLimit(perSecond: Self.perSource)].admit(at: now) else { return false }
        if !isProved, !unproved.admit(at: now) { return false }
        return all.admit(at: now)
    }
}

/// Who was sent an advert without having proved an address, and when: one in 30 s, so that nobody can make this
/// device flood an address by naming it.
struct GreetingLimit: Sendable, Equatable {
    private struct Key: Sendable, Hashable {
        let device: DeviceID
        let address: PeerAddress
    }

    /// Time between two adverts to one unproved address of one device.
    static let interval = Duration.seconds(30)

    /// The same for an address that the device proved before a call failed there.
    private static let intervalAfterProof = SearchDelay.shortest

    /// Entries that are kept; beyond it nothing is sent to new unproved addresses, and nothing is lost but time.
    static let maxCount = 1024

    private var sent: [Key: MonotonicInstant] = [:]

    /// When the next advert may go to the address; nil for now.
    func nextAllowed(_ device: DeviceID, _ candidate: Candidate, at now: MonotonicInstant) -> MonotonicInstant? {
        guard let last = sent[Key(device: device, address: candidate.address)] else { return nil }
        let next = last + (candidate.wasProved ? Self.intervalAfterProof : Self.interval)
        return next > now ? next : nil
    }

    /// Forgets what was sent to a device: it has started anew, which nobody else can make it seem.
    mutating func forget(_ device: DeviceID) {
        sent = sent.filter { $0.key.device != device }
    }

    /// True when an advert may go to the address now, which is noted.
    mutating func admit(_ device: DeviceID, _ candidate: Candidate, at now: MonotonicInstant) -> Bool {
        guard nextAllowed(device, candidate, at: now) == nil else { return false }
        if sent.count >= Self.maxCount {
            sent = sent.filter { $0.value + Self.interval > now }
            guard sent.count < Self.maxCount else { return false }
        }
        sent[Key(device: device, address: candidate.address)] = now
        return true
    }
}
