import HandoffAccount
import Testing

@Suite struct StatementListTests {
    @Test
    func `encoding preserves a list in its order`() throws {
        let statements = try TestAccount().oneOfEach()
        #expect(try StatementList.decode(StatementList.encode(statements)) == statements)
        #expect(try StatementList.decode([]).isEmpty)
    }

    @Test
    func `a list that is truncated inside a statement is rejected`() throws {
        let statements = try TestAccount().oneOfEach()
        let bytes = StatementList.encode(statements)
        var ends: Set<Int> = [0]
        for statement in statements { ends.insert((ends.max() ?? 0) + 2 + statement.encodedCount) }
        for count in 0..<bytes.count where !ends.contains(count) {
            #expect(throws: StatementError.layout) { try StatementList.decode(Array(bytes.prefix(count))) }
        }
    }

    @Test
    func `a length beyond the end is rejected`() {
        #expect(throws: StatementError.layout) { try StatementList.decode([0xFF, 0xFF, 1]) }
        #expect(throws: StatementError.layout) { try StatementList.decode([0, 0]) }
    }
}
