import HandoffAccount
import Testing

/// Random histories of whole accounts, each reproducible from its seed. More seeds find nothing new
/// in unchanged code. After a change of the rules, run 3,000 of them for some minutes.
@Suite struct RosterGossipTests {
    @Test func `devices with the same statements agree, and one round of epochs settles`() throws {
        for seed in UInt64(0)..<40 {
            var gossip = try RosterGossip(seed: seed)
            #expect(gossip.wronglyRefused == 0, "seed \(seed)")
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
