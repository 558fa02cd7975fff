import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Values that write their fields themselves.
struct ActivityJSONTests {
    @Test func `all fields are written in the order of the interface file`() throws {
        let control = InterfaceDefinition(try #require(HandoffInterfaces.control))
        var offered = try Sample.offered()
        offered.opens = ControlOpens(
            kind: .app, name: "A", reason: "runs", app: "com.example.a", icon: "a",
            choices: [ControlOpens.Choice(app: "com.example.a", name: "A")])
        #expect(offered.json.keys == control.fields(of: "OfferedActivity").map(\.name))
        #expect(offered.opens.json.keys == control.fields(of: "Opens").map(\.name))
        let continued = try Sample.continued()
        #expect(continued.json.keys == control.fields(of: "ContinuedActivity").map(\.name))
        #expect(continued.origin.json.keys == control.fields(of: "Origin").map(\.name))
    }

    @Test func `absent fields are null, except for those of a handler`() throws {
        var offered = try Sample.offered()
        let full = offered.json
        (offered.title, offered.opens) = (nil, ControlOpens(kind: .nothing))
        #expect(offered.json.keys == full.keys)
        #expect(offered.json["title"] == .null)
        #expect(offered.json["opens"] == ["kind": "nothing"])
        let device = try Sample.device()
        let origin = Origin(device: device, deviceName: "desk", deviceKind: .desktop)
        #expect(origin.json["app"] == .null && origin.json["appVersion"] == .null)
        let content = ActivityContent(type: try Sample.type())
        let continued = ContinuedActivity(id: try Sample.activity(), content: content, origin: origin)
        for key in ["title", "webpageURL", "team", "targetContentIdentifier"] { #expect(continued.json[key] == .null) }
        #expect(try ContinuedActivity(json: continued.json) == continued)
    }

    @Test func `the device of a continued activity is written twice`() throws {
        let continued = try Sample.continued().json
        let origin = try #require(continued["origin"]?.object)
        for key in ["device", "deviceName", "deviceKind"] { #expect(continued[key] == origin[key]) }
    }

    @Test func `the encoding inside another value is the same`() throws {
        let offered = try Sample.offered()
        #expect(JSON(encoding: [offered], absent: .null) == [.object(offered.json)])
    }
}
