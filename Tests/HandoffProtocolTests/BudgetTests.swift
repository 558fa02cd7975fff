import HandoffModel
import HandoffProtocol
import Testing

@Suite struct BudgetTests {
    @Test func `the events of a member are admitted, then dropped, then close the connection`() {
        var budget = MemberRateLimiter()
        let verdicts = (0..<300).map { _ in budget.admitRequest(at: Samples.at(0)) }
        #expect(verdicts.prefix(20).allSatisfy { $0 == .admit })
        #expect(verdicts[20..<200].allSatisfy { $0 == .drop })
        #expect(verdicts[200...].allSatisfy { $0 == .close })
        let adverts = (0..<51).map { _ in budget.admitAdvert(at: Samples.at(0)) }
        // Statements are never dropped. Excess ones wait in order.
        let merges = (0..<20).map { _ in budget.delayStatements(at: Samples.at(0)) }
        #expect(merges.prefix(16).allSatisfy { $0 == .zero })
        #expect(merges.dropFirst(16) == (1...4).map { .milliseconds(250 * $0) }[...])
        #expect(budget.delayStatements(at: Samples.at(10_000)) == .zero)
        #expect(adverts == [MemberRateLimiter.Verdict](repeating: .admit, count: 50) + [.drop])
    }

    @Test func `requests for streams have their own budget`() {
        var budget = MemberRateLimiter()
        let verdicts = (0..<10_001).map { _ in budget.admitOpening(at: Samples.at(0)) }
        #expect(verdicts.prefix(1000).allSatisfy { $0 == .admit })
        #expect(verdicts[1000..<10_000].allSatisfy { $0 == .drop })
        #expect(verdicts[10_000] == .close)
        let request = budget.admitRequest(at: Samples.at(0))
        #expect(request == .admit)
        let later = (0..<101).map { _ in budget.admitOpening(at: Samples.at(1000)) }
        #expect(later == [MemberRateLimiter.Verdict](repeating: .admit, count: 100) + [.drop])
    }

    @Test func `one source cannot use the whole budget for opening datagrams`() throws {
        var budget = OpeningRateLimiter()
        let loud = try Samples.address(1)
        let proved = try Samples.address(2)
        let loudCount = (0..<500).filter { _ in budget.admit(from: loud, isProved: false, at: Samples.at(0)) }.count
        #expect(loudCount == 200)
        var opened = 200
        for host in UInt8(10)...250 {
            let source = try Samples.address(host)
            opened += (0..<20).filter { _ in budget.admit(from: source, isProved: false, at: Samples.at(0)) }.count
        }
        #expect(opened == 1500)
        let provedCount = (0..<500).filter { _ in budget.admit(from: proved, isProved: true, at: Samples.at(0)) }.count
        #expect(provedCount == 200)
    }
}
