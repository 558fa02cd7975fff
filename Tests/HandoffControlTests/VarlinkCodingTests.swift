import HandoffControl
import HandoffJSON
import Testing

struct VarlinkCallTests {
    @Test(arguments: [
        (VarlinkCall(method: "a.B"), #"{"method":"a.B","parameters":{}}"#),
        (
            VarlinkCall(method: "a.B", parameters: ["x": 1], more: true),
            #"{"method":"a.B","parameters":{"x":1},"more":true}"#
        ),
        (VarlinkCall(method: "a.B", oneway: true), #"{"method":"a.B","parameters":{},"oneway":true}"#),
        (VarlinkCall(method: "a.B", upgrade: true), #"{"method":"a.B","parameters":{},"upgrade":true}"#),
    ])
    func `a call has one encoding, and encoding preserves it`(call: VarlinkCall, text: String) throws {
        #expect(call.encoded() == Array(text.utf8) + [0])
        #expect(try VarlinkCall(decoding: Array(text.utf8)) == call)
    }

    @Test(arguments: [
        #"{"method":"a.B"}"#, #"{"method":"a.B","parameters":null}"#, #"{"method":"a.B","parameters":{}}"#,
        #"{"method":"a.B","more":false,"oneway":false,"upgrade":null}"#, " {\n\"method\" : \"a.B\" } ",
    ])
    func `other encodings of the same call are equal`(text: String) throws {
        #expect(try VarlinkCall(decoding: Array(text.utf8)) == VarlinkCall(method: "a.B"))
    }

    @Test(arguments: [
        "", "{}", "[]", "1", "null", #"{"parameters":{}}"#, #"{"method":1}"#, #"{"method":null}"#,
        #"{"method":"a.B","method":"a.C"}"#, #"{"method":"a.B","x":1}"#, #"{"method":"a.B","Method":"a.B"}"#,
        #"{"method":"a.B","parameters":[]}"#, #"{"method":"a.B","parameters":"x"}"#, #"{"method":"a.B","more":1}"#,
        #"{"method":"a.B","more":"true"}"#, #"{"method":"a.B","more":true,"oneway":true}"#,
        #"{"method":"a.B","upgrade":true,"more":true}"#, #"{"method":"a.B","upgrade":true,"oneway":true}"#,
        #"{"method":"a.B"} {}"#, #"{"method":"a.B","continues":true}"#, #"{"method":"a.B","parameters":{"a":1,"a":2}}"#,
    ])
    func `an invalid call is rejected`(text: String) {
        #expect(throws: VarlinkError.self) { try VarlinkCall(decoding: Array(text.utf8)) }
    }

    @Test(arguments: [
        ("dev.handoff1.Control.GetStatus", "dev.handoff1.Control", "GetStatus"), ("a.B", "a", "B"), ("B", "", "B"),
        ("", "", ""), (".", "", ""), ("a.", "a", ""), (".B", "", "B"),
    ])
    func `a method has an interface and a name`(method: String, interface: String, member: String) {
        let call = VarlinkCall(method: method)
        #expect(call.interface == interface)
        #expect(call.member == member)
    }
}

struct VarlinkReplyTests {
    @Test(arguments: [
        (VarlinkReply(), #"{"parameters":{}}"#),
        (VarlinkReply(parameters: ["x": 1], continues: true), #"{"parameters":{"x":1},"continues":true}"#),
        (VarlinkReply(error: "a.E", parameters: ["x": 1]), #"{"error":"a.E","parameters":{"x":1}}"#),
    ])
    func `a reply has one encoding, and encoding preserves it`(reply: VarlinkReply, text: String) throws {
        #expect(reply.encoded() == Array(text.utf8) + [0])
        #expect(try VarlinkReply(decoding: Array(text.utf8)) == reply)
    }

    @Test(arguments: ["{}", #"{"parameters":null,"continues":false,"error":null}"#])
    func `an empty reply is valid`(text: String) throws {
        #expect(try VarlinkReply(decoding: Array(text.utf8)) == VarlinkReply())
    }

    @Test(arguments: [
        "[]", "", #"{"error":1}"#, #"{"error":"a.E","continues":true}"#, #"{"result":1}"#, #"{"parameters":1}"#,
        #"{"continues":0}"#,
    ])
    func `an invalid reply is rejected`(text: String) {
        #expect(throws: VarlinkError.self) { try VarlinkReply(decoding: Array(text.utf8)) }
    }
}

struct VarlinkFramerTests {
    private static let messages: [[UInt8]] = [
        Array("{}".utf8), [], Array(repeating: 0x78, count: 70_000), Array("a".utf8),
        Array(repeating: 0x79, count: 300),
    ]
    private static var stream: [UInt8] { messages.flatMap { $0 + [0] } }

    private static func cut(_ bytes: [UInt8], at sizes: some Sequence<Int>) throws -> [[UInt8]] {
        var framer = VarlinkFramer()
        var messages: [[UInt8]] = []
        var rest = bytes[...]
        for size in sizes where !rest.isEmpty {
            try framer.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            while let message = framer.next() { messages.append(message) }
        }
        #expect(framer.buffered == 0)
        return messages
    }

    @Test func `messages are returned whole, from single bytes and random pieces`() throws {
        #expect(try Self.cut(Self.stream, at: [Int.max]) == Self.messages)
        #expect(try Self.cut(Self.stream, at: repeatElement(1, count: Self.stream.count)) == Self.messages)
        for _ in 0..<10 {
            let sizes = (0..<Self.stream.count).lazy.map { _ in Int.random(in: 1...5000) }
            #expect(try Self.cut(Self.stream, at: sizes) == Self.messages)
        }
    }

    @Test func `a message of exactly the limit is accepted, a longer one is not`() throws {
        let maximum = [UInt8](repeating: 0x78, count: VarlinkFramer.maxMessage)
        var framer = VarlinkFramer()
        try framer.append(maximum)
        #expect(framer.next() == nil)
        try framer.append([0, 0x61])
        #expect(framer.next() == maximum)
        #expect(framer.buffered == 1)
        framer = VarlinkFramer()
        #expect(throws: VarlinkError.messageTooLarge) { try framer.append(maximum + [0x78]) }
        framer = VarlinkFramer()
        #expect(throws: VarlinkError.messageTooLarge) { try framer.append(maximum + [0x78, 0]) }
        framer = VarlinkFramer()
        try framer.append(maximum)
        #expect(throws: VarlinkError.messageTooLarge) { try framer.append([0x78]) }
    }

    @Test func `a long message after a short one is not accepted either`() throws {
        var framer = VarlinkFramer()
        try framer.append([0x61, 0] + [UInt8](repeating: 0x78, count: VarlinkFramer.maxMessage + 1) + [0])
        #expect(framer.next() == [0x61])
        #expect(framer.next() == nil)
        #expect(throws: VarlinkError.messageTooLarge) { try framer.append([0x61]) }
    }

    @Test func `the rest is returned once`() throws {
        var framer = VarlinkFramer()
        try framer.append([0x61, 0, 1, 2, 0, 3])
        #expect(framer.next() == [0x61])
        #expect(framer.takeRest() == [1, 2, 0, 3])
        #expect(framer.takeRest() == [])
        #expect(framer.next() == nil)
    }
}
