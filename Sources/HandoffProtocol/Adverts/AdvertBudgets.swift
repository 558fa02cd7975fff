package import HandoffModel

/// The rate limits of one authenticated device, across all its datagrams and connections.
package struct MemberRateLimiter: Sendable {
    /// The decision on one more event.
    package enum Verdict: Sendable, Equatable {
        case admit

        /// The event exceeds the limit and is dropped.
        case drop

        /// The event exceeds ten times the limit. The connection is closed, and the device is
        /// ignored for a while.
        case close
    }

    /// A limit, and ten times that limit.
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

    /// Adverts: 50 per second.
    private var adverts = Pair(perSecond: 50)

    /// Requests, notices and hellos: 20 per second.
    private var requests = Pair(perSecond: 20)

    /// Stream requests, of which apps may send hundreds at a time.
    private var openings = RateLimit(perSecond: 100, burst: 1000)

    /// Ten times the limit of `openings`.
    private var openingExcess = RateLimit(perSecond: 1000, burst: 10_000)

    /// Merges of statements: 4 per second, in bursts of 16, as when a device joins. Excess merges
    /// are delayed, not dropped.
    private var merges = RateLimit(perSecond: 4, burst: 16)

    /// Account keys. One is sufficient, and each may require a roster lookup.
    private var epochKeys = Pair(perSecond: 5)

    /// Connections from the device. Several may arrive at once when the network returns.
    private var connections = RateLimit(perSecond: 10, burst: 40)

    package init() {}

    /// Counts one advert signed by the device.
    package mutating func admitAdvert(at now: MonotonicInstant) -> Verdict {
        adverts.admit(at: now)
    }

    /// Counts one request, notice or hello.
    package mutating func admitRequest(at now: MonotonicInstant) -> Verdict {
        requests.admit(at: now)
    }

    /// Counts one stream request.
    package mutating func admitOpening(at now: MonotonicInstant) -> Verdict {
        guard openingExcess.admit(at: now) else { return .close }
        return openings.admit(at: now) ? .admit : .drop
    }

    /// Counts one account key from the device.
    package mutating func admitEpochKey(at now: MonotonicInstant) -> Verdict {
        epochKeys.admit(at: now)
    }

    /// Counts one connection from the device. Returns true if it is admitted.
    package mutating func admitConnection(at now: MonotonicInstant) -> Bool {
        connections.admit(at: now)
    }

    /// Counts one set of statements. Returns the delay before it is merged.
    package mutating func delayStatements(at now: MonotonicInstant) -> Duration {
        merges.delay(at: now)
    }
}

/// Limits how many datagrams are opened. Excess datagrams are dropped before any cryptography.
///
/// Part of the total is reserved for proved sources, so that a flood from elsewhere does not
/// exclude them.
package struct OpeningRateLimiter: Sendable {
    /// The maximum number of datagrams opened per second from one host.
    package static let perSource: UInt64 = 200

    /// The maximum number of datagrams opened per second in total.
    package static let total: UInt64 = 2000

    /// The part of the total that unproved hosts may use.
    package static let unprovedTotal: UInt64 = 1500

    /// The maximum number of hosts to track. When there are more, the counts are reset, and only
    /// the totals apply.
    private static let maxSources = 1024

    private var sources: [PeerAddress: RateLimit] = [:]
    private var all = RateLimit(perSecond: total)
    private var unproved = RateLimit(perSecond: unprovedTotal)

    package init() {}

    /// Counts a datagram from `source` at `now`. Returns true if it may be opened.
    package mutating func admit(from source: PeerAddress, isProved: Bool, at now: MonotonicInstant) -> Bool {
        let host = source.withPort(1) ?? source
        if sources.count >= Self.maxSources, sources[host] == nil { sources.removeAll(keepingCapacity: true) }
        guard sources[host, default: RateLimit(perSecond: Self.perSource)].admit(at: now) else { return false }
        if !isProved, !unproved.admit(at: now) { return false }
        return all.admit(at: now)
    }
}

/// Limits adverts to unproved addresses to one per 30 s, so that a forged address cannot make this
/// device flood its owner.
struct GreetingLimit: Sendable, Equatable {
    private struct Key: Sendable, Hashable {
        let device: DeviceID
        let address: PeerAddress
    }

    /// The minimum time between two adverts to one unproved address of one device.
    static let interval = Duration.seconds(30)

    /// The minimum time for an address that the device proved before a connection attempt failed
    /// there.
    private static let intervalAfterProof = SearchDelay.minDelay

    /// The maximum number of entries. Beyond it, nothing is sent to new unproved addresses, which
    /// only causes a delay.
    static let maxCount = 1024

    private var sent: [Key: MonotonicInstant] = [:]

    /// Returns the time of the next permitted advert to the address, or nil if it is permitted now.
    func nextAllowed(_ device: DeviceID, _ candidate: Candidate, at now: MonotonicInstant) -> MonotonicInstant? {
        guard let last = sent[Key(device: device, address: candidate.address)] else { return nil }
        let next = last + (candidate.wasProved ? Self.intervalAfterProof : Self.interval)
        return next > now ? next : nil
    }

    /// Removes the entries of a device that has restarted. No other device can fake a restart.
    mutating func forget(_ device: DeviceID) {
        sent = sent.filter { $0.key.device != device }
    }

    /// Returns true and records the advert if it may be sent to the address now.
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
