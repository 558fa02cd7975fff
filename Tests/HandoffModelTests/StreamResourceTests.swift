import HandoffModel
import Testing

@Suite struct StreamResourceTests {
    @Test(arguments: ["a", "document/3", "\"\\~", String(repeating: "x", count: 128)])
    func `visible ASCII is a valid name`(_ text: String) {
        #expect(StreamResource(text)?.text == text)
    }

    @Test(arguments: ["", "a b", "a\n", "a\0", "\u{7F}", "é", String(repeating: "x", count: 129)])
    func `anything else is invalid`(_ text: String) {
        #expect(StreamResource(text) == nil)
    }
}
