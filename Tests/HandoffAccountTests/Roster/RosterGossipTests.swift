import HandoffAccount
import Testing

/// Random histories of whole accounts, each by its seed: so many hundreds. More of them find nothing new in the same code; after a
/// change of the rules thirty hundreds are worth their minutes.
@Suite struct RosterGossipTests {
    @Test(arguments: 0..<3)
    func `devices that heard the same agree, and one round of epochs settles`(_ block: Int) throws {
        for seed in UInt64(block * 100)..<UInt64(block * 100 + 100) {
            var gossip = try RosterGossip(seed: seed)
            #expect(gossip.refusedInVain == 0, "seed \(seed)")
            var (roster, isOneView) = try gossip.union()
            #expect(isOneView, "seed \(seed)")
            let founder = Fingerprint(roster.view.founder)
            #expect(
                RosterModel(roster.view) == RosterModel(founder: founder, statements: roster.ordered), "seed \(seed)")
            let rounds = try gossip.settle(&roster)
            #expect(rounds <= 1, "seed \(seed)")
            guard !roster.view.live.isEmpty else { continue }
            let current = try #require(roster.view.currentEpoch, "seed \(seed)")
            #expect(roster.view.isLive(current.signer), "seed \(seed)")
            #expect(roster.view.live.allSatisfy { !roster.view.isRemoved($0) }, "seed \(seed)")
        }
    }
}
