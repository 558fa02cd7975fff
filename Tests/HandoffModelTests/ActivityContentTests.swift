import HandoffJSON
import HandoffModel
import Testing

struct ActivityContentTests {
    private static func type() throws -> ActivityType {
        try #require(ActivityType("com.example.edit"))
    }

    private static func full() throws -> ActivityContent {
        ActivityContent(
            type: try type(), title: "A title", userInfo: ["document": 7, "when": ["$date": 1.5]],
            webpageURL: "https://example.com/7", team: "TEAM", requiredUserInfoKeys: ["document"],
            supportsStreams: true,
            targetContentIdentifier: "document/7")
    }

    @Test func `a payload survives encoding and decoding`() throws {
        let content = try Self.full()
        let origin = PayloadOrigin(app: "com.example.app", appVersion: "1.2")
        let payload = content.encodedPayload(origin: origin)
        #expect(
            payload.keys == [
                "type", "title", "userInfo", "webpageURL", "team", "requiredUserInfoKeys", "targetContentIdentifier",
                "streams", "app",
                "appVersion",
            ])
        #expect(try ActivityContent(payload: payload) == content)
        #expect(PayloadOrigin(payload: payload) == origin)
    }

    @Test(
        arguments: [
            (["a": 1, "b": nil], ["a", "b"], []), (["a": 1], ["b", "a", "c"], ["b", "c"]), ([:], [], []),
            (["$dict": [[1, 2], ["a", 3]]], ["a", "1", "$dict"], ["1", "$dict"]),
            (["gr\u{FC}n": 1], ["gru\u{308}n"], ["gru\u{308}n"]),
        ] as [(JSONObject, [String], [String])])
    func `missing required keys are found`(userInfo: JSONObject, required: [String], missing: [String]) throws {
        let content = ActivityContent(type: try Self.type(), userInfo: userInfo, requiredUserInfoKeys: required)
        #expect(content.missingRequiredKeys == missing)
    }

    @Test func `a message about missing keys fits in a response`() {
        let keys = (0..<Limits.requiredKeys).map { _ in String(repeating: "\u{1F6CB}", count: 256) }
        let message = HandoffFailure.requiredKeysMissing(keys, device: String(repeating: "d", count: 64)).message
        #expect(message.utf8.count <= 1024 && message.hasSuffix(" and 253 more"), "\(message)")
    }

    @Test func `defaults are omitted and restored`() throws {
        let content = ActivityContent(type: try Self.type())
        let payload = content.encodedPayload()
        #expect(payload.keys == ["type", "userInfo"])
        #expect(try ActivityContent(payload: payload) == content)
        #expect(try ActivityContent(payload: ["type": "x", "title": nil, "streams": nil, "later": 1]).title == nil)
    }

    @Test(
        arguments: [
            ([:], "type"), (["type": 1], "type"), (["type": "a b"], "type"), (["type": "x", "title": 1], "title"),
            (["type": "x", "userInfo": []], "userInfo"),
            (["type": "x", "userInfo": ["a": ["$x": 1]]], "userInfo.a.$x"),
            (["type": "x", "webpageURL": "file:///"], "webpageURL"), (["type": "x", "team": false], "team"),
            (["type": "x", "requiredUserInfoKeys": ["a", 1]], "requiredUserInfoKeys"),
            (["type": "x", "requiredUserInfoKeys": "a"], "requiredUserInfoKeys"),
            (["type": "x", "streams": 1], "streams"),
        ] as [(JSONObject, String)])
    func `an invalid payload is rejected`(payload: JSONObject, field: String) throws {
        let error = try #require(throws: ActivityError.self) { try ActivityContent(payload: payload) }
        #expect(error.field == field)
    }

    @Test func `texts of exactly the maximum length are accepted`() throws {
        var content = try Self.full()
        content.title = String(repeating: "t", count: Limits.title)
        content.team = String(repeating: "t", count: Limits.team)
        content.requiredUserInfoKeys = Array(repeating: "k", count: Limits.requiredKeys)
        #expect(throws: Never.self) { try content.validate() }
        for (change, field) in [
            ({ $0.title = String(repeating: "t", count: Limits.title + 1) }, "title"),
            ({ $0.team = String(repeating: "t", count: Limits.team + 1) }, "team"),
            ({ $0.requiredUserInfoKeys.append("k") }, "requiredUserInfoKeys"),
            (
                { $0.requiredUserInfoKeys[0] = String(repeating: "k", count: Limits.requiredKey + 1) },
                "requiredUserInfoKeys"
            ),
            ({ $0.expiration = .nan }, "expirationDate"),
        ] as [((inout ActivityContent) -> Void, String)] {
            var changed = content
            change(&changed)
            let error = try #require(throws: ActivityError.self) { try changed.validate() }
            #expect(error.field == field)
        }
    }

    @Test func `the size of the payload is counted and limited`() throws {
        let content = try Self.full()
        let origin = PayloadOrigin(app: "com.example.app")
        let count = content.encodedPayload(origin: origin).encoded().count
        #expect(try content.validate(origin: origin, maxPayload: count) == count)
        let error = try #require(throws: ActivityError.self) {
            try content.validate(origin: origin, maxPayload: count - 1)
        }
        #expect(error == .tooLarge(bytes: count, limit: count - 1))
        #expect(error.code == 4611)
    }

    @Test func `the lengths of an origin's names are limited`() {
        let long = JSON.string(String(repeating: "x", count: Limits.appName + 1))
        #expect(PayloadOrigin(payload: ["app": long, "appVersion": 3]) == PayloadOrigin())
    }
}
