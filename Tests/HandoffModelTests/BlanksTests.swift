import HandoffModel
import Testing

struct BlanksTests {
    @Test(arguments: [
        ("", ""), (" ", ""), ("\t \r", ""), ("a", "a"), (" a b\t", "a b"), ("a\r", "a"), ("\u{A0}a\n", "\u{A0}a\n"),
    ])
    func `spaces, tabs and carriage returns are removed at both ends`(_ text: String, _ kept: String) {
        #expect(Array(ArraySlice(text.utf8).withoutBlanks) == Array(kept.utf8))
    }

    @Test func `a slice keeps its indices`() {
        let line = Array("a = b".utf8)
        #expect(line[1...].withoutBlanks.startIndex == 2)
    }
}
