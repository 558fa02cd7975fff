package import LoopIO

/// The origin of an unauthenticated connection, for counting connections and choosing one to evict.
///
/// A neighbour can use any number of addresses of the link, and a remote host has a whole network
/// of 64 bits. Therefore each address is counted separately, and the addresses of a network are
/// counted together only when all places are in use. Then the network with the most connections
/// loses one, from the address in it with the most.
package struct ConnectionSource: Hashable, Sendable {
    /// The whole address, including the interface of a link-local one.
    package let address: IPAddress

    /// Creates the source of an address.
    init(_ address: IPAddress) {
        self.address = address
    }

    /// The first 64 bits of an IPv6 address with its interface, or the first 24 bits of an IPv4
    /// address.
    private struct Network: Hashable {
        let bytes: ArraySlice<UInt8>
        let scope: UInt32
    }

    private var network: Network {
        Network(bytes: address.bytes.prefix(address.isIPv4 ? 3 : 8), scope: address.scope)
    }

    /// Returns the connection to evict for a new one: the oldest of the busiest address in the
    /// busiest network. Among equals, the one with the oldest connection.
    ///
    /// - Parameter sources: the sources of all connections, in order of arrival.
    /// - Returns: the index in `sources`; nil if it is empty.
    static func indexToEvict(_ sources: [ConnectionSource]) -> Int? {
        let networks = sources.map(\.network)
        guard let busiest = busiest(networks) else { return nil }
        guard let source = Self.busiest(zip(sources, networks).lazy.filter { $1 == busiest }.map(\.0)) else {
            return nil
        }
        return sources.firstIndex(of: source)
    }

    /// Returns the most frequent value; among equals, the first.
    private static func busiest<Value: Hashable>(_ values: some Sequence<Value>) -> Value? {
        var tally: [Value: Int] = [:]
        for value in values { tally[value, default: 0] += 1 }
        let maxCount = tally.values.max()
        return values.first { tally[$0] == maxCount }
    }
}
