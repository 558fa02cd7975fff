import Glibc
import Testing

/// Random histories of four devices, each reproducible from its seed. The release gate plays 1,000.
@Suite struct KeptHistoryTests {
    @Test func `no withdrawn state is continued, no receipt is lost or repeated, and all stores become equal`() throws {
        let isFull = getenv("HANDOFF_SAMPLES").map { String(cString: $0) } == "full"
        var (continued, delivered) = (0, 0)
        for seed in UInt64(0)..<(isFull ? 1_000 : 100) {
            let history = try KeptHistory(seed: seed)
            #expect(history.failures == [], "seed \(seed)")
            continued += history.continued
            delivered += history.delivered
        }
        // The histories reach the rules.
        #expect(continued > 300 && delivered > 100, "\(continued) continued, \(delivered) receipts")
    }
}
