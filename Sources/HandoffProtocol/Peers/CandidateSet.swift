package import Timing

/// The addresses of one device: few, and those that it proved stay, whatever is heard from the network.
package struct CandidateSet: Sendable, Equatable {
    /// Most addresses that are kept for a device.
    package static let maxCount = 8

    /// All addresses, in the order in which they became known.
    private var candidates: [Candidate] = []

    /// No address yet.
    package init() {}

    /// The best address first: proved ones, most recently proved first, then configured ones, then the newest.
    package var ranked: [Candidate] {
        candidates.enumerated().sorted { left, right in
            let a = rank(left.element)
            let b = rank(right.element)
            return a == b ? left.offset > right.offset : a > b
        }.map(\.element)
    }

    /// True when the device has proved that it is at `address`.
    package func isProved(_ address: PeerAddress) -> Bool {
        candidates.contains { $0.address == address && $0.proved != nil }
    }

    /// Adds an address, or notes that one more source names it.
    ///
    /// When the set is full, the oldest address that is neither proved nor configured makes room; if there is none,
    /// the new one is not taken, so that forged addresses displace no good one.
    mutating func add(_ address: PeerAddress, source: CandidateSource, at now: MonotonicInstant) {
        if let index = candidates.firstIndex(where: { $0.address == address }) {
            candidates[index].sources.insert(source)
            return
        }
        if candidates.count >= Self.maxCount {
            let victim = candidates.firstIndex { $0.proved == nil && !$0.sources.contains(.fixed) }
            guard let victim else { return }
            candidates.remove(at: victim)
        }
        candidates.append(Candidate(address: address, sources: [source], proved: nil, added: now))
    }

    /// Takes what mDNS says now as all that it says: addresses that only it named are forgotten, unless proved.
    ///
    /// - Parameter freshUntil: until when the record is fresh by its period; nil if it is not.
    mutating func replaceAnnounced(
        _ addresses: [PeerAddress], freshUntil: MonotonicInstant? = nil, at now: MonotonicInstant
    ) {
        for index in candidates.indices where !addresses.contains(candidates[index].address) {
            candidates[index].sources.remove(.mdns)
            candidates[index].freshUntil = nil
        }
        candidates.removeAll { $0.sources.isEmpty && $0.proved == nil }
        for address in addresses.prefix(Self.maxCount) {
            add(address, source: .mdns, at: now)
        }
        for index in candidates.indices where addresses.contains(candidates[index].address) {
            candidates[index].freshUntil = freshUntil
        }
    }

    /// A configured name stands for other addresses than before: those that only it named are forgotten, unless proved.
    mutating func replaceFixed(_ former: [PeerAddress], by addresses: [PeerAddress], at now: MonotonicInstant) {
        for index in candidates.indices where former.contains(candidates[index].address) {
            if !addresses.contains(candidates[index].address) { candidates[index].sources.remove(.fixed) }
        }
        candidates.removeAll { $0.sources.isEmpty && $0.proved == nil }
        for address in addresses.prefix(Self.maxCount) { add(address, source: .fixed, at: now) }
    }

    /// The device proved that it is at `address`, which is added if it is new, at the cost of an unproved one.
    mutating func prove(_ address: PeerAddress, at now: MonotonicInstant) {
        if !candidates.contains(where: { $0.address == address }) {
            add(address, source: .datagram, at: now)
        }
        for index in candidates.indices where candidates[index].address == address {
            candidates[index].proved = now
            candidates[index].wasProved = true
        }
    }

    /// A try at `address` failed: it has to prove itself again.
    mutating func fail(_ address: PeerAddress) {
        for index in candidates.indices where candidates[index].address == address {
            candidates[index].proved = nil
        }
        candidates.removeAll { $0.sources.isEmpty && $0.proved == nil }
    }

    /// The device now listens on `port`: addresses move there and prove themselves again; configured ones stay as
    /// the user wrote them.
    mutating func move(to port: UInt16) {
        var moved: [Candidate] = []
        for candidate in candidates {
            var next = candidate
            if !candidate.sources.contains(.fixed), candidate.address.port != port,
                let address = candidate.address.withPort(port)
            {
                next = Candidate(address: address, sources: candidate.sources, proved: nil, added: candidate.added)
            }
            if !moved.contains(where: { $0.address == next.address }) { moved.append(next) }
        }
        candidates = moved
    }

    private func rank(_ candidate: Candidate) -> (Int, UInt64) {
        if let proved = candidate.proved { return (2, proved.nanoseconds) }
        return candidate.sources.contains(.fixed) ? (1, 0) : (0, candidate.added.nanoseconds)
    }
}

/// An address where a device may be.
package struct Candidate: Sendable, Equatable {
    /// Host and port to try.
    package let address: PeerAddress

    /// How it became known; empty once nothing says it any more.
    package internal(set) var sources: Set<CandidateSource>

    /// When the device last proved that it is there, by a TLS handshake or an acknowledged advert; nil if never, or
    /// since a try failed.
    package internal(set) var proved: MonotonicInstant?

    /// Whether the device has ever proved that it is there.
    var wasProved = false

    /// Until when the record that names it is fresh; nil if none does.
    var freshUntil: MonotonicInstant?

    /// When it became known.
    let added: MonotonicInstant
}

/// How an address of a device became known.
package enum CandidateSource: Sendable, Hashable, CaseIterable {
    /// A record of the service; anybody on the network can forge those.
    case mdns

    /// The source of a datagram or connection; the datagram may have been replayed from elsewhere.
    case datagram

    /// The user's configuration.
    case fixed
}
