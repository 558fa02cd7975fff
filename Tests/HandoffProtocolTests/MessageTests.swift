import HandoffJSON
import HandoffModel
import HandoffProtocol
import Testing

@Suite struct MessageTests {
    private static func body(_ text: String) -> [UInt8] {
        Array(text.utf8)
    }

    @Test func `a hello survives encoding and decoding`() throws {
        let hello = try Samples.hello(seq: 12, listSeq: 7, seenGeneration: 90)
        #expect(try Hello(decoding: hello.encoded(), from: try Samples.device(1)) == hello)
        let bare = try Samples.hello(seenGeneration: nil, label: nil, epoch: nil)
        #expect(try Hello(decoding: bare.encoded(), from: try Samples.device(1)) == bare)
    }

    @Test(arguments: [
        #""port":0"#, #""port":70000"#, #""port":"x""#, #""version":0"#, #""version":null"#, #""boot":-1"#,
        #""roster":"00""#, #""roster":"zz00000000000000""#, #""label":"00""#, #""epoch":7"#, #""epoch":"00""#,
        #""boot":0"#, #""seenBoot":0"#, #""listSeq":-1"#,
        #""device":"00""#, #""boot":1.5"#, #""seq":-1"#, #""seq":4294967296"#, #""kept":"0011223344556677""#,
        #""kept":1"#, #""kept":"""#, #""capabilities":["keep",1]"#, #""capabilities":"keep""#,
    ]) func `an invalid member of a hello is an error`(member: String) throws {
        let device = try Samples.device(1)
        let key = String(member.split(separator: ":")[0])
        let members = [
            #""version":1"#, #""port":24863"#, #""boot":1"#, #""roster":"0000000000000000""#,
        ]
        let good = "{" + members.joined(separator: ",") + "}"
        #expect(throws: Never.self) { try Hello(decoding: Self.body(good), from: device) }
        let bad = "{" + (members.filter { !$0.hasPrefix(key) } + [member]).joined(separator: ",") + "}"
        #expect(throws: MessageError.self) { try Hello(decoding: Self.body(bad), from: device) }
    }

    @Test func `a hello shows the kept activities`() throws {
        let device = try Samples.device(1)
        let digest = Array(UInt8(0)..<16)
        func hello(_ keeps: Bool, _ digest: [UInt8]?) -> Hello? {
            Hello(
                software: "test/1", kind: .other, port: 1, label: nil, generation: 1, seenGeneration: nil,
                rosterDigest: [UInt8](repeating: 0, count: 8), epoch: nil, keepsActivities: keeps, keptDigest: digest)
        }
        for (keeps, digest) in [(true, digest), (true, nil), (false, nil)] {
            let read = try Hello(decoding: #require(hello(keeps, digest)).encoded(), from: device)
            #expect(read.keepsActivities == keeps && read.keptDigest == digest)
        }
        #expect(hello(true, Array(digest.dropLast())) == nil)
        let text = #"{"version":1,"port":1,"boot":1,"roster":"0000000000000000","capabilities":["other","keep"]}"#
        #expect(try Hello(decoding: Self.body(text), from: device).keepsActivities)
    }

    @Test func `a hello may name only the certificate's device`() throws {
        let device = try Samples.device(1)
        let text = #"{"version":1,"port":1,"boot":1,"roster":"0000000000000000","device":"\#(device.hex)"}"#
        #expect(try Hello(decoding: Self.body(text), from: device).port == 1)
        #expect(throws: MessageError.field("device")) {
            try Hello(decoding: Self.body(text), from: try Samples.device(2))
        }
    }

    @Test func `requests, responses and notices survive encoding and decoding`() throws {
        let request = PeerRequest(id: 1, method: PeerMethod.continueActivity, parameters: ["activity": "00"])
        #expect(try PeerRequest(decoding: request.encoded()) == request)
        let notice = PeerNotice(method: PeerMethod.wasContinued, parameters: ["activity": "00"])
        #expect(try PeerNotice(decoding: notice.encoded()) == notice)
        let result = PeerResponse(id: 2, outcome: .result(["a": 1.0]))
        #expect(try PeerResponse(decoding: result.encoded()) == result)
        let failure = PeerResponse(
            id: 3, outcome: .failure(HandoffFailure(code: 4611, reason: "tooLarge", message: "too large")))
        #expect(try PeerResponse(decoding: failure.encoded()) == failure)
    }

    @Test(arguments: [
        "", "[]", "{", "{\"id\":0,\"method\":\"a\"}", "{\"id\":1}", "{\"id\":\"1\",\"method\":\"a\"}",
        "{\"id\":1,\"method\":\"a\",\"parameters\":[]}", "{\"id\":1,\"id\":1,\"method\":\"a\"}",
        "{\"id\":1,\"method\":\"" + String(repeating: "m", count: 65) + "\"}",
        "{\"id\":1,\"method\":\"a\",\"parameters\":" + String(repeating: "{\"a\":", count: 40) + "1"
            + String(repeating: "}", count: 41),
    ]) func `an invalid request is an error`(text: String) {
        #expect(throws: MessageError.self) { try PeerRequest(decoding: Self.body(text)) }
    }

    @Test(arguments: [
        #"{"id":1}"#, #"{"id":1,"result":{},"error":{"code":1,"reason":"","message":""}}"#, #"{"id":1,"result":1}"#,
        #"{"id":1,"error":{"code":"x","reason":"","message":""}}"#, #"{"id":1,"error":{"code":4608}}"#,
    ]) func `an invalid response is an error`(text: String) {
        #expect(throws: MessageError.self) { try PeerResponse(decoding: Self.body(text)) }
    }

    @Test func `unknown members are ignored`() throws {
        let text = #"{"id":1,"method":"ping","future":[1,2]}"#
        #expect(try PeerRequest(decoding: Self.body(text)) == PeerRequest(id: 1, method: "ping", parameters: [:]))
    }

    @Test func `a list survives encoding and decoding and rejects a duplicate id`() throws {
        let list = ActivityList(
            position: Position(generation: 5, seq: 6),
            activities: [try Samples.activity(1, age: 9), try Samples.activity(2, title: nil)])
        #expect(try ActivityList(json: list.json) == list)
        let twice = ActivityList(
            position: list.position, activities: [try Samples.activity(1), try Samples.activity(1)])
        #expect(throws: MessageError.field("id")) { try ActivityList(json: twice.json) }
    }

    @Test(
        arguments: [
            ("age", -1), ("age", 4_294_967_296), ("age", 1.0), ("age", "1"), ("age", nil), ("type", "a b"),
            ("id", "00"), ("streams", 1), ("title", 1),
        ] as [(String, JSON)])
    func `a malformed element is skipped`(key: String, value: JSON) throws {
        var malformed = try Samples.activity(2).json
        malformed[key] = value
        let first = try Samples.activity(1, age: 0)
        let last = try Samples.activity(3, age: .max)
        var list = ActivityList(position: Position(generation: 5, seq: 6), activities: [first, last]).json
        list["activities"] = [.object(first.json), .object(malformed), 7, nil, .object(last.json)]
        #expect(try ActivityList(json: list).activities == [first, last])
    }

    @Test func `a list has at most 1024 elements of any kind`() throws {
        var list = ActivityList(position: Position(generation: 5, seq: 6), activities: []).json
        list["activities"] = .array(Array(repeating: 7, count: 1024))
        #expect(try ActivityList(json: list).activities == [])
        list["activities"] = .array(Array(repeating: 7, count: 1025))
        #expect(throws: MessageError.field("activities")) { try ActivityList(json: list) }
    }

    @Test func `long titles of a list are truncated`() throws {
        let title = String(repeating: "é", count: 2000)
        let activity = try ActivitySummary(json: try Samples.activity(1, title: title).json)
        let cut = try #require(activity.title)
        #expect(cut.utf8.count <= 256 && cut.hasPrefix("éé") && cut.hasSuffix("…"))
    }

    @Test func `titles that differ only in composition differ`() throws {
        let composed = try Samples.activity(1, title: "\u{E9}")
        let decomposed = try Samples.activity(1, title: "e\u{301}")
        #expect(composed != decomposed)
        #expect(!composed.hasSameContent(as: decomposed))
    }
}
