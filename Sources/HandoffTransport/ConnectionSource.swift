package import LoopIO

/// Where a connection that has proved nothing comes from, to be counted by, and which of many has to go.
///
/// Addresses cost a neighbour nothing: he may take any of the link, and a host elsewhere has a whole network of 64 bits. So an
/// address is counted alone, and those of a network together only when there is no place left: then the network with the
/// most connections pays, and in it the address with the most.
package struct ConnectionSource: Hashable, Sendable {
    /// The whole address, with the link of a link-local one.
    package let address: IPAddress

    /// The source that an address is.
    package init(_ address: IPAddress) {
        self.address = address
    }

    /// The first 64 bits of an IPv6 address with its link, or 24 of an IPv4 address.
    private struct Network: Hashable {
        let bytes: ArraySlice<UInt8>
        let scope: UInt32
    }

    private var network: Network {
        Network(bytes: address.bytes.prefix(address.isIPv4 ? 3 : 8), scope: address.scope)
    }

    /// Which connection is closed for a new one: the oldest of the address with the most in the network with the most. Of
    /// several that are equally busy, the one with the oldest connection.
    ///
    /// - Parameter sources: of all connections, in order of arrival.
    /// - Returns: the place in `sources`; nil when it is empty.
    static func toDisplace(_ sources: [ConnectionSource]) -> Int? {
        let networks = sources.map(\.network)
        guard let busiest = busiest(networks) else { return nil }
        guard let source = Self.busiest(zip(sources, networks).lazy.filter { $1 == busiest }.map(\.0)) else {
            return nil
        }
        return sources.firstIndex(of: source)
    }

    /// The value that occurs most often, the first of several.
    private static func busiest<Value: Hashable>(_ values: some Sequence<Value>) -> Value? {
        var tally: [Value: Int] = [:]
        for value in values { tally[value, default: 0] += 1 }
        let most = tally.values.max()
        return values.first { tally[$0] == most }
    }
}
