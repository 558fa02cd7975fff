import HandoffControl
import HandoffJSON
import HandoffModel
import Testing

/// An offered activity, which encodes its fields itself because a list can have a thousand.
struct ActivityJSONTests {
    @Test func `an activity is encoded like its properties, in their order`() throws {
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

    @Test func `a continued activity is encoded like its properties, with its device before its origin`() throws {
        let type = try #require(ActivityType("com.example.a"))
        let id = ActivityID(checked: [UInt8](repeating: 7, count: ActivityID.byteCount))
        let device = DeviceID(checked: [UInt8](repeating: 9, count: DeviceID.byteCount))
        let bare = Origin(device: device, deviceName: "desk", deviceKind: .desktop)
        let full = Origin(device: device, deviceName: "desk", deviceKind: .desktop, app: "a", appVersion: "1")
        for origin in [bare, full] {
            var content = ActivityContent(type: type)
            if origin == full {
                content = ActivityContent(
                    type: type, title: "t", userInfo: ["k": 1], webpageURL: "https://example.org/", team: "TEAM",
                    requiredUserInfoKeys: ["k"], supportsStreams: true, targetContentIdentifier: "c")
            }
            let activity = ContinuedActivity(id: id, content: content, origin: origin)
            var written = JSONObject(encoding: activity, absent: .null)
            written["origin"] = nil
            for key in ["device", "deviceName", "deviceKind"] { written[key] = origin.json[key] }
            written["origin"] = .object(JSONObject(encoding: origin, absent: .null))
            #expect(activity.json.encoded() == written.encoded())
        }
    }
}
