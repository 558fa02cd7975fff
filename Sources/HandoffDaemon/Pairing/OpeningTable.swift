package import LoopIO
package import Timing

/// Which connections to a pairing window have not said enough yet, from where, and until when. A plain value.
///
/// A new connection is always taken; when there are too many, one of the busiest network goes (`ConnectionSource`): who
/// floods the window displaces himself.
package struct OpeningTable {
    /// Names one connection; never reused.
    package typealias ID = UInt64

    private struct Entry {
        let id: ID
        let source: ConnectionSource
        let deadline: MonotonicInstant
    }

    private let limit: Int
    /// In order of arrival.
    private var entries: [Entry] = []
    private var nextID: ID = 0

    /// An empty table.
    /// - Parameter limit: connections in it at most, at least 1.
    package init(limit: Int) {
        self.limit = max(limit, 1)
    }

    /// Connections in it.
    package var count: Int { entries.count }

    /// When the first connection runs out of time.
    package var nextDeadline: MonotonicInstant? { entries.lazy.map(\.deadline).min() }

    /// Takes a new connection.
    ///
    /// - Returns: its name, and the older connection that must be closed for it.
    package mutating func admit(from address: IPAddress, until deadline: MonotonicInstant) -> (id: ID, evicted: ID?) {
        let evicted = entries.count >= limit ? makeRoom() : nil
        let id = nextID
        nextID &+= 1
        entries.append(Entry(id: id, source: ConnectionSource(address), deadline: deadline))
        return (id, evicted)
    }

    /// Forgets a connection: it has said enough, or ended.
    package mutating func remove(_ id: ID) {
        entries.removeAll { $0.id == id }
    }

    /// Forgets and returns the connections whose time is over.
    package mutating func expire(now: MonotonicInstant) -> [ID] {
        let expired = entries.filter { $0.deadline <= now }.map(\.id)
        entries.removeAll { $0.deadline <= now }
        return expired
    }

    private mutating func makeRoom() -> ID? {
        ConnectionSource.toDisplace(entries.map(\.source)).map { entries.remove(at: $0).id }
    }
}
