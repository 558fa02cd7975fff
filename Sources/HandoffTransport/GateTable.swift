package import LoopIO
package import Timing

/// Which connections have not said enough to begin TLS, from where, and until when. A plain value.
///
/// A new connection is always taken; when there are too many of its address the oldest of those pays, when there are too
/// many in all one of the busiest network (`ConnectionSource`): who floods us displaces mostly himself, and an honest client
/// needs its place only for the time of its one segment.
package struct GateTable {
    /// Names one connection; never reused.
    package typealias ID = UInt64

    private struct Entry {
        let id: ID
        let source: ConnectionSource
        let deadline: MonotonicInstant
    }

    private let limit: Int
    private let perSource: Int
    private let time: Duration
    /// In order of arrival, and so of deadline.
    private var entries: [Entry] = []
    private var nextID: ID = 0

    /// An empty table, with room for at least one connection.
    package init(limits: TransportLimits) {
        limit = max(limits.ungated, 1)
        perSource = limits.ungatedPerSource
        time = limits.gate
    }

    /// Connections in it.
    package var count: Int { entries.count }

    /// When the first connection runs out of time.
    package var nextDeadline: MonotonicInstant? { entries.first?.deadline }

    /// Takes a new connection.
    ///
    /// - Returns: its name, and the older connection that must be closed for it.
    package mutating func admit(from address: IPAddress, now: MonotonicInstant) -> (id: ID, evicted: ID?) {
        let source = ConnectionSource(address)
        let evicted = makeRoom(for: source)
        let id = nextID
        nextID &+= 1
        entries.append(Entry(id: id, source: source, deadline: now.advanced(by: time)))
        return (id, evicted)
    }

    /// Forgets a connection: it has said enough, or ended.
    package mutating func remove(_ id: ID) {
        entries.removeAll { $0.id == id }
    }

    /// Forgets and returns the connections whose time is over.
    package mutating func expire(now: MonotonicInstant) -> [ID] {
        let expired = entries.prefix { $0.deadline <= now }.map(\.id)
        entries.removeFirst(expired.count)
        return expired
    }

    private mutating func makeRoom(for source: ConnectionSource) -> ID? {
        let fromSource = entries.count { $0.source == source }
        if fromSource >= perSource, let oldest = entries.firstIndex(where: { $0.source == source }) {
            return entries.remove(at: oldest).id
        }
        guard entries.count >= limit else { return nil }
        return ConnectionSource.toDisplace(entries.map(\.source)).map { entries.remove(at: $0).id }
    }
}
