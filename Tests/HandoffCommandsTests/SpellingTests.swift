import HandoffCommands
import HandoffModel
import Testing

@Suite struct SpellingTests {
    @Test(arguments: [
        ("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "ab", 1), ("abc", "abcd", 1), ("abc", "acb", 1),
        ("contine", "continue", 1), ("abc", "xyz", 3),
    ])
    func `counts typing errors`(_ first: String, _ second: String, _ expected: Int) {
        #expect(Spelling.distance(Array(first), Array(second)) == expected)
        #expect(Spelling.distance(Array(second), Array(first)) == expected)
    }

    @Test(arguments: [
        ("contine", "continue"), ("cotninue", "continue"), ("stats", "status"), ("STATUS", "status"),
        ("device", "devices"), ("pub", "publish"), ("paair", "pair"), ("wacth", "watch"), ("lst", "list"),
        ("handel", "handle"), ("hepl", "help"), ("acount", "account"), ("export", "account export"),
        ("add", "peer add"),
    ])
    func `suggests the nearest command`(_ word: String, _ expected: String) {
        #expect(CommandTable.standard.suggestion(for: word) == expected)
    }

    @Test(arguments: ["xyzzy", "q", "frobnicate", "-"])
    func `suggests nothing for another word`(_ word: String) {
        #expect(CommandTable.standard.suggestion(for: word) == nil)
    }
}
