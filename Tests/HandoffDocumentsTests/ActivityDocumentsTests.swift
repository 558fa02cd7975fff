import HandoffDocuments
import HandoffJSON
import HandoffModel
import Testing

struct ActivityDocumentsTests {
    @Test func `the documents of an activity are its valid URLs, each once`() throws {
        let type = try #require(ActivityType("com.example.edit"))
        func found(_ urls: [String], limit: Int = 9) -> [String] {
            let values = urls.map { JSON.object(["$url": .string($0)]) }
            return ActivityContent(type: type, userInfo: ["a": .array(values)]).documents(limit: limit)
        }
        let (letter, other) = ("handoff-document:root/notes/a", "handoff-document:name/b")
        let outside = "handoff-document:root/..%2Fx/y"
        #expect(found([letter, "https://example.org/", letter, other, outside]) == [letter, other])
        #expect(found([letter, other], limit: 1) == [letter])
        #expect(found(["file:///a", "HANDOFF-DOCUMENT"]).isEmpty)
    }
}
