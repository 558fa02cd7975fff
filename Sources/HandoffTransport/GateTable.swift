package import HandoffModel
package import LoopIO

/// The connections that have not sent a complete token and record, with their sources and
/// deadlines. A plain value.
///
/// A new connection is always admitted. If its address has too many connections, the oldest of
/// those is evicted. If there are too many in total, one of the busiest network is evicted
/// (`ConnectionSource`). A flood therefore mostly evicts its own connections, and an honest client
/// needs its entry only until its single segment has arrived.
package struct GateTable {
    /// Identifies one connection. Never reused.
    package typealias ID = UInt64

    private struct Entry {
        let id: ID
        let source: ConnectionSource
        let deadline: MonotonicInstant
    }

    private let limit: Int
    private let perSource: Int
    private let time: Duration
    /// In order of arrival, and therefore of deadline.
    private var entries: [Entry] = []
    private var nextID: ID = 0

    /// Creates an empty table, with room for at least one connection.
    package init(limits: TransportLimits) {
        limit = max(limits.maxUngated, 1)
        perSource = limits.maxUngatedPerSource
        time = limits.gateTimeout
    }

    /// The number of connections.
    package var count: Int { entries.count }

    /// The earliest deadline of a connection.
    package var nextDeadline: MonotonicInstant? { entries.first?.deadline }

    /// Adds a new connection.
    ///
    /// - Returns: its ID, and the older connection that must be closed for it.
    package mutating func admit(from address: IPAddress, now: MonotonicInstant) -> (id: ID, evicted: ID?) {
        let source = ConnectionSource(address)
        let evicted = makeRoom(for: source)
        let id = nextID
        nextID &+= 1
        entries.append(Entry(id: id, source: source, deadline: now.advanced(by: time)))
        return (id, evicted)
    }

    /// Removes a connection that has sent enough or has ended.
    package mutating func remove(_ id: ID) {
        entries.removeAll { $0.id == id }
    }

    /// Removes and returns the connections whose deadline has passed.
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
        return ConnectionSource.indexToEvict(entries.map(\.source)).map { entries.remove(at: $0).id }
    }
}
