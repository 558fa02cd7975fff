import HandoffDocuments
import HandoffJSON
import HandoffModel
import Testing

/// Local paths in content sent to other devices.
@Suite struct LocalPathTests {
    private static func content(_ userInfo: JSONObject) throws -> ActivityContent {
        ActivityContent(type: try #require(ActivityType("com.example.editing")), userInfo: userInfo)
    }

    @Test func `no local path is sent`() throws {
        let path: JSON = ["$url": "file:///home/ada/Secret%20plans/report.odt"]
        let name: JSON = ["$url": "handoff-document:name/report.odt"]
        let content = try Self.content([
            "a": path, "b": [path, 1], "c": ["$set": [path, ["$url": "FILE:/tmp/report.odt"]]],
            "d": ["$dict": [[path, true]]], "e": ["deep": ["$url": "file://host/x/"]],
        ])
        let sent = content.withoutLocalPaths.userInfo
        #expect(
            sent == [
                "a": name, "b": [name, 1], "c": ["$set": [name]], "d": ["$dict": [[name, true]]],
                "e": ["deep": ["$url": "handoff-document:name/x/"]],
            ])
        try UserInfo.validate(sent)
    }

    @Test func `other content is sent unchanged`() throws {
        let content = try Self.content([
            "url": ["$url": "https://example.org/file:///home"], "text": "file:///home/ada", "number": 1.0,
            "members": ["$url": "file:///a", "other": 1],
        ])
        #expect(content.withoutLocalPaths == content)
    }
}
