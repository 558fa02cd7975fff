package import LoopIO

/// Which connections have not passed the gate, from where, and until when. A plain value.
///
/// A new connection is always taken; when there are too many, the oldest pays: who floods us displaces mostly himself,
/// and an honest client needs its place only for the time of its one segment.
package struct GateTable {
    /// Names one connection; never reused.
    package typealias ID = UInt64

    private struct Entry {
        let id: ID
        let source: AddressBlock
        let deadline: LoopInstant
    }

    private let limits: TransportLimits
    /// In order of arrival, and so of deadline.
    private var entries: [Entry] = []
    private var nextID: ID = 0

    /// An empty table.
    package init(limits: TransportLimits) {
        self.limits = limits
    }

    /// Connections in it.
    package var count: Int { entries.count }

    /// When the first connection runs out of time.
    package var nextDeadline: LoopInstant? { entries.first?.deadline }

    /// Takes a new connection.
    ///
    /// - Returns: its name, and the older connection that must be closed for it.
    package mutating func admit(from address: IPAddress, now: LoopInstant) -> (id: ID, evicted: ID?) {
        let source = AddressBlock(address)
        let evicted = makeRoom(for: source)
        let id = nextID
        nextID &+= 1
        entries.append(Entry(id: id, source: source, deadline: now.advanced(by: limits.gate)))
        return (id, evicted)
    }

    /// Forgets a connection: it has passed the gate, or ended.
    package mutating func remove(_ id: ID) {
        entries.removeAll { $0.id == id }
    }

    /// Forgets and returns the connections whose time is over.
    package mutating func expire(now: LoopInstant) -> [ID] {
        let expired = entries.prefix { $0.deadline <= now }.map(\.id)
        entries.removeFirst(expired.count)
        return expired
    }

    private mutating func makeRoom(for source: AddressBlock) -> ID? {
        let fromSource = entries.count { $0.source == source }
        if fromSource >= limits.ungatedPerSource, let oldest = entries.firstIndex(where: { $0.source == source }) {
            return entries.remove(at: oldest).id
        }
        return entries.count >= limits.ungated && !entries.isEmpty ? entries.removeFirst().id : nil
    }
}
