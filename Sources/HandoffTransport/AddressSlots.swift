package import LoopIO

/// Limits the number of outgoing attempts per address that have not passed the gate, and queues
/// further attempts. A plain value.
package struct AddressSlots {
    /// Identifies one attempt. Chosen by the caller, never reused.
    package typealias ID = UInt64

    private struct Address {
        var holders: Set<ID> = []
        var waiting: [ID] = []
    }

    private let perAddress: Int
    private var addresses: [IPAddress: Address] = [:]

    /// Creates a limiter with free slots.
    package init(perAddress: Int) {
        self.perAddress = perAddress
    }

    /// Takes a slot at `address`, or a position in its queue.
    ///
    /// - Returns: true if the attempt may start now.
    package mutating func enter(_ id: ID, at address: IPAddress) -> Bool {
        if addresses[address, default: Address()].holders.count < perAddress {
            addresses[address, default: Address()].holders.insert(id)
            return true
        }
        addresses[address, default: Address()].waiting.append(id)
        return false
    }

    /// Releases a slot or a position in the queue. A second call does nothing.
    ///
    /// - Returns: the attempt that may start now instead, or nil.
    package mutating func leave(_ id: ID, at address: IPAddress) -> ID? {
        guard var entry = addresses[address] else { return nil }
        var next: ID?
        if entry.holders.remove(id) == nil {
            entry.waiting.removeAll { $0 == id }
        } else if !entry.waiting.isEmpty {
            let first = entry.waiting.removeFirst()
            entry.holders.insert(first)
            next = first
        }
        addresses[address] = entry.holders.isEmpty ? nil : entry
        return next
    }
}
