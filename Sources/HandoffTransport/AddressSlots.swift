package import LoopIO

/// How many of our attempts are before the gate of each address, and who waits there. A plain value.
package struct AddressSlots {
    /// Names one attempt; chosen by the caller, never reused.
    package typealias ID = UInt64

    private struct Address {
        var holders: Set<ID> = []
        var waiting: [ID] = []
    }

    private let perAddress: Int
    private var addresses: [IPAddress: Address] = [:]

    /// All places are free.
    package init(perAddress: Int) {
        self.perAddress = perAddress
    }

    /// Takes a place at `address`, or a turn in its queue.
    ///
    /// - Returns: whether the attempt may start now.
    package mutating func enter(_ id: ID, at address: IPAddress) -> Bool {
        if addresses[address, default: Address()].holders.count < perAddress {
            addresses[address, default: Address()].holders.insert(id)
            return true
        }
        addresses[address, default: Address()].waiting.append(id)
        return false
    }

    /// Gives up a place or a turn; does nothing the second time.
    ///
    /// - Returns: the attempt that may start now instead.
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
