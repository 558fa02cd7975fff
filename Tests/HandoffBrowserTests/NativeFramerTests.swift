import HandoffBrowser
import HandoffJSON
import Testing

/// Native messaging frames in pieces of any size.
struct NativeFramerTests {
    private static func frame(_ text: String) -> [UInt8] {
        let count = UInt32(text.utf8.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + Array(text.utf8)
    }

    /// The messages completed by these bytes.
    private static func read(_ framer: inout NativeFramer, _ bytes: [UInt8]) throws -> [JSONObject] {
        try results(&framer, bytes).map { try $0.get() }
    }

    private static func results(_ framer: inout NativeFramer, _ bytes: [UInt8]) -> [Result<
        JSONObject, NativeFramer.Failure
    >] {
        var found: [Result<JSONObject, NativeFramer.Failure>] = []
        framer.received(bytes) { found.append($0) }
        return found
    }

    private static let two = frame(#"{"kind":"noPage"}"#) + frame(#"{"kind":"page","url":"ü"}"#)
    private static let values: [JSONObject] = [["kind": "noPage"], ["kind": "page", "url": "ü"]]

    @Test func `messages are read as a whole, in any pieces, and byte by byte`() throws {
        for size in 1...Self.two.count {
            var framer = NativeFramer()
            var found: [JSONObject] = []
            for start in stride(from: 0, to: Self.two.count, by: size) {
                found += try Self.read(&framer, Array(Self.two[start..<min(start + size, Self.two.count)]))
            }
            #expect(found == Self.values)
        }
    }

    @Test func `a title that was cut within a character is read, and so is the next message`() throws {
        var framer = NativeFramer()
        let messages = Self.frame(#"{"title":"a\ud83d"}"#) + Self.frame("{}")
        #expect(try Self.read(&framer, messages) == [["title": "a\u{FFFD}"], [:]])
    }

    @Test func `half a surrogate in the bytes themselves is replaced`() throws {
        var framer = NativeFramer()
        let text = Array(#"{"title":"a"#.utf8) + [0xED, 0xA0, 0xBD] + Array(#"b"}"#.utf8)
        let header = (0..<4).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) }
        let title = try #require(try Self.read(&framer, header + text).first?["title"]?.string)
        #expect(title.hasPrefix("a\u{FFFD}") && title.hasSuffix("b"))
    }

    @Test func `the rest of an incomplete message is awaited`() throws {
        for end in 0..<Self.frame("{}").count {
            var framer = NativeFramer()
            #expect(try Self.read(&framer, Array(Self.frame("{}")[..<end])).isEmpty)
        }
    }

    @Test(arguments: [1, 4096, 1 << 20, 1 << 22])
    func `an overlong message is skipped, and costs neither memory nor another message`(size: Int) throws {
        var framer = NativeFramer()
        let length = NativeFramer.maxMessage + 1
        let header = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        let bytes =
            Self.frame("{}") + header + [UInt8](repeating: 0x78, count: length) + Self.frame(#"{"kind":"noPage"}"#)
        var found: [Result<JSONObject, NativeFramer.Failure>] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            found += Self.results(&framer, Array(bytes[start..<min(start + size, bytes.count)]))
        }
        #expect(found == [.success([:]), .failure(.tooLong(length)), .success(["kind": "noPage"])])
    }

    @Test func `a message of the maximum length is read`() throws {
        var framer = NativeFramer()
        let text = #"{"a":""# + String(repeating: "x", count: NativeFramer.maxMessage - 8) + #""}"#
        #expect(try Self.read(&framer, Self.frame(text)).count == 1)
    }

    @Test(arguments: [
        "", "[1]", "7", "{", "{\"a\":1,\"a\":2}", String(repeating: "[", count: 100), "{\"a\":\"\u{1}\"}",
    ])
    func `a message that is not an object is skipped without losing another one`(text: String) throws {
        var framer = NativeFramer()
        let found = Self.results(&framer, Self.frame("{}") + Self.frame(text) + Self.frame(#"{"kind":"noPage"}"#))
        #expect(found.count == 3 && found.first == .success([:]) && found.last == .success(["kind": "noPage"]))
        #expect(throws: NativeFramer.Failure.self) { _ = try found[1].get() }
    }

    @Test func `a frame can be read again, and a message too long for browsers is not written`() throws {
        var framer = NativeFramer()
        let bytes = try #require(NativeFramer.framed(["kind": "ready", "n": 300]))
        #expect(try Self.read(&framer, bytes) == [["kind": "ready", "n": 300]])
        #expect(NativeFramer.framed(["a": .string(String(repeating: "x", count: NativeFramer.maxReply))]) == nil)
    }
}
