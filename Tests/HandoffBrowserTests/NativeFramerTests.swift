import HandoffBrowser
import HandoffJSON
import Testing

/// Messages of native messaging, in whatever pieces they come.
struct NativeFramerTests {
    private static func frame(_ text: String) -> [UInt8] {
        let count = UInt32(text.utf8.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + Array(text.utf8)
    }

    private static func read(_ framer: inout NativeFramer, _ bytes: [UInt8]) throws -> [JSONObject] {
        var found: [JSONObject] = []
        try framer.received(bytes) { found.append($0) }
        return found
    }

    private static let two = frame(#"{"kind":"noPage"}"#) + frame(#"{"kind":"page","url":"ü"}"#)
    private static let values: [JSONObject] = [["kind": "noPage"], ["kind": "page", "url": "ü"]]

    @Test func `messages are read whole, in any cuts, and byte by byte`() throws {
        for size in 1...Self.two.count {
            var framer = NativeFramer()
            var found: [JSONObject] = []
            for start in stride(from: 0, to: Self.two.count, by: size) {
                found += try Self.read(&framer, Array(Self.two[start..<min(start + size, Self.two.count)]))
            }
            #expect(found == Self.values)
        }
    }

    @Test func `a title that was cut inside a character is read, and so is the message behind it`() throws {
        var framer = NativeFramer()
        let messages = Self.frame(#"{"title":"a\ud83d"}"#) + Self.frame("{}")
        #expect(try Self.read(&framer, messages) == [["title": "a\u{FFFD}"], [:]])
    }

    @Test func `what comes before a message that cannot be used is read`() {
        var framer = NativeFramer()
        var found: [JSONObject] = []
        #expect(throws: NativeFramer.Failure.self) {
            try framer.received(Self.frame("{}") + Self.frame("[]")) { found.append($0) }
        }
        #expect(found == [[:]])
    }

    @Test func `what is cut off is waited for`() throws {
        for end in 0..<Self.frame("{}").count {
            var framer = NativeFramer()
            #expect(try Self.read(&framer, Array(Self.frame("{}")[..<end])).isEmpty)
        }
    }

    @Test func `a message that is too long is not waited for, and one of the longest is read`() throws {
        var framer = NativeFramer()
        let header = (0..<4).map { UInt8(truncatingIfNeeded: (NativeFramer.longest + 1) >> (8 * $0)) }
        #expect(throws: NativeFramer.Failure.tooLong(NativeFramer.longest + 1)) { _ = try Self.read(&framer, header) }
        var other = NativeFramer()
        let text = #"{"a":""# + String(repeating: "x", count: NativeFramer.longest - 8) + #""}"#
        #expect(try Self.read(&other, Self.frame(text)).count == 1)
    }

    @Test(arguments: [
        "", "[1]", "7", "{", "{\"a\":1,\"a\":2}", String(repeating: "[", count: 100), "{\"a\":\"\u{1}\"}",
    ])
    func `what is no object is refused`(text: String) {
        var framer = NativeFramer()
        #expect(throws: NativeFramer.Failure.self) { _ = try Self.read(&framer, Self.frame(text)) }
    }

    @Test func `what is written is read again, and what no browser takes is not written`() throws {
        var framer = NativeFramer()
        let bytes = try #require(NativeFramer.framed(["kind": "ready", "n": 300]))
        #expect(try Self.read(&framer, bytes) == [["kind": "ready", "n": 300]])
        #expect(NativeFramer.framed(["a": .string(String(repeating: "x", count: NativeFramer.longestAnswer))]) == nil)
    }
}
