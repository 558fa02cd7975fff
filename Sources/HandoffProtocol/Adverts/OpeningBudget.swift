/// How many datagrams are opened: what arrives beyond it is dropped before any cryptography.
///
/// Sources that a device has proved keep a part of the whole for themselves, so that a flood from elsewhere does not
/// shut them out.
package struct OpeningBudget: Sendable {
    /// Datagrams opened in a second from one host.
    package static let perSource: UInt64 = 200

    /// Datagrams opened in a second in all.
    package static let total: UInt64 = 2000

    /// The part of the total that hosts without proof may use.
    package static let unprovedTotal: UInt64 = 1500

    /// Hosts that are told apart; with more of them the counts start anew and the totals hold alone.
    private static let maximumSources = 1024

    private var sources: [PeerAddress: RateLimit] = [:]
    private var all = RateLimit(perSecond: total)
    private var unproved = RateLimit(perSecond: unprovedTotal)

    /// Nothing used yet.
    package init() {}

    /// True when a datagram from `source` may be opened at `now`, and counts it.
    package mutating func admit(from source: PeerAddress, isProved: Bool, at now: BootInstant) -> Bool {
        let host = source.withPort(1) ?? source
        if sources.count >= Self.maximumSources, sources[host] == nil { sources.removeAll(keepingCapacity: true) }
        guard sources[host, default: RateLimit(perSecond: Self.perSource)].admit(at: now) else { return false }
        if !isProved, !unproved.admit(at: now) { return false }
        return all.admit(at: now)
    }
}
