package import HandoffModel

/// The addresses of one device. The set is small, and received data cannot displace proved
/// addresses.
package struct CandidateSet: Sendable, Equatable {
    /// The maximum number of addresses per device.
    package static let maxCount = 8

    /// All addresses, in the order in which they became known.
    private var candidates: [Candidate] = []

    init() {}

    /// The addresses, best first: proved ones by most recent proof, then configured ones, then the
    /// newest.
    package var ranked: [Candidate] {
        candidates.enumerated().sorted { left, right in
            let a = rank(left.element)
            let b = rank(right.element)
            return a == b ? left.offset > right.offset : a > b
        }.map(\.element)
    }

    /// Returns true if the device has proved `address`.
    package func isProved(_ address: PeerAddress) -> Bool {
        candidates.contains { $0.address == address && $0.proved != nil }
    }

    /// Adds an address, or records another source for it.
    ///
    /// If the set is full, the oldest address that is neither proved nor configured is removed. If
    /// there is none, the new address is not added, so that forged addresses displace no good one.
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

    /// Replaces all addresses from mDNS. Addresses that only mDNS named are removed unless proved.
    ///
    /// - Parameter freshUntil: The time until which the record's period makes it fresh; nil if it
    ///   is not fresh.
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

    /// Replaces the addresses of a configured name. Addresses that only the name resolved to are
    /// removed unless proved.
    mutating func replaceFixed(_ former: [PeerAddress], by addresses: [PeerAddress], at now: MonotonicInstant) {
        for index in candidates.indices where former.contains(candidates[index].address) {
            if !addresses.contains(candidates[index].address) { candidates[index].sources.remove(.fixed) }
        }
        candidates.removeAll { $0.sources.isEmpty && $0.proved == nil }
        for address in addresses.prefix(Self.maxCount) { add(address, source: .fixed, at: now) }
    }

    /// Records that the device proved `address`. A new address is added, possibly in place of an
    /// unproved one.
    mutating func prove(_ address: PeerAddress, at now: MonotonicInstant) {
        if !candidates.contains(where: { $0.address == address }) {
            add(address, source: .datagram, at: now)
        }
        for index in candidates.indices where candidates[index].address == address {
            candidates[index].proved = now
            candidates[index].wasProved = true
        }
    }

    /// Handles a failed attempt at `address`, which must be proved again.
    mutating func fail(_ address: PeerAddress) {
        for index in candidates.indices where candidates[index].address == address {
            candidates[index].proved = nil
        }
        candidates.removeAll { $0.sources.isEmpty && $0.proved == nil }
    }

    /// Handles a new port of the device. Addresses change to it and must be proved again.
    /// Configured addresses stay as the user wrote them.
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

/// A possible address of a device.
package struct Candidate: Sendable, Equatable {
    /// The host and port to try.
    package let address: PeerAddress

    /// The sources of the address; empty when no source names it any more.
    package internal(set) var sources: Set<CandidateSource>

    /// The time at which the device last proved the address, by a TLS handshake or an acknowledged
    /// advert; nil if it never did, or an attempt has failed since.
    package internal(set) var proved: MonotonicInstant?

    /// True if the device has ever proved the address.
    var wasProved = false

    /// The time until which the record with the address is fresh; nil if there is none.
    var freshUntil: MonotonicInstant?

    /// The time at which the address became known.
    let added: MonotonicInstant
}

/// The source of a device's address.
package enum CandidateSource: Sendable, Hashable, CaseIterable {
    /// A record of the service, which any host on the network can forge.
    case mdns

    /// The source of a datagram or connection. The datagram may have been replayed from elsewhere.
    case datagram

    /// The user's configuration.
    case fixed
}
