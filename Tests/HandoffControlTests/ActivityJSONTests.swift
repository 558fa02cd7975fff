import HandoffControl
import HandoffJSON
import HandoffModel
import Testing

/// An activity on offer, which writes its fields itself: a list has a thousand.
struct ActivityJSONTests {
    @Test func `an activity is written as its properties would be, in their order`() throws {
        var full = try Sample.offered()
        full.team = "TEAM"
        full.webpageURL = "https://example.org/"
        full.sent = true
        full.opens = ControlOpens(kind: .app, name: "A", reason: "runs", app: "com.example.a", icon: "a")
        var bare = try Sample.offered()
        bare.title = nil
        bare.opens = ControlOpens(kind: .nothing)
        for activity in [full, bare] {
            let written = JSONObject(encoding: activity, absent: .null)
            #expect(activity.json.encoded() == written.encoded())
            #expect(activity.opens.json.encoded() == JSONObject(encoding: activity.opens, absent: .null).encoded())
        }
    }
}
