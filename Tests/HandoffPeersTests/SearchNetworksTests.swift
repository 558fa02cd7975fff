import HandoffPeers
import LoopIO
import Testing

/// The detection of a change to a network other than the one in which devices were lost.
@Suite struct SearchNetworksTests {
    private func moves(_ sets: [String]...) throws -> [Bool] {
        var networks = SearchNetworks()
        return try sets.map { texts in
            networks.hasMoved(to: try texts.map { try #require(IPAddress(text: $0)) })
        }
    }

    @Test func `a link that goes down and up again is not a change of the network`() throws {
        let moved = try moves(["127.0.0.1", "192.0.2.7"], ["127.0.0.1"], ["127.0.0.1", "192.0.2.7"])
        #expect(moved == [false, false, false])
    }

    @Test func `another address in the same network is not a change of the network`() throws {
        let moved = try moves(
            ["192.0.2.7", "2001:db8::7"], [], ["192.0.2.8"], ["192.0.2.8", "2001:db8::1234"])
        #expect(moved == [false, false, false, false])
    }

    @Test func `a network after another one is detected, also beside one that stays`() throws {
        let moved = try moves(
            ["172.17.0.1", "192.0.2.7"], ["172.17.0.1"], ["172.17.0.1", "198.51.100.7"],
            ["172.17.0.1", "198.51.100.7"])
        #expect(moved == [false, false, true, false])
    }

    @Test func `a second network is not a change of the network`() throws {
        #expect(try moves(["192.0.2.7"], ["192.0.2.7", "198.51.100.7"], ["198.51.100.7"]) == [false, false, false])
    }
}
