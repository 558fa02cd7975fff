import HandoffControl
import HandoffDaemon
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The names of devices, by whole daemons.
@Suite struct NamingTests {
    @Test(arguments: ["Küche 🏠", "e\u{301}", "a\u{7}b\u{202E}"]) func `all receive a name`(_ name: String) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        _ = try members[0].call(.renameDevice, ["device": "couch", "name": .string(name)])
        for member in members {
            try fleet.poll("\(member.name) sees the name") {
                try member.deviceList().contains { $0.name.utf8.elementsEqual(name.utf8) }
            }
        }
    }

    @Test(arguments: ["", String(repeating: "x", count: 65)]) func `an invalid name is refused`(_ name: String) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let call = try desk.open(ControlMethod.renameDevice.rawValue, ["device": "desk", "name": .string(name)])
        #expect(try call.refusal().name == ControlErrorName.accountRefused.rawValue)
        #expect(try desk.deviceList().map(\.name) == ["desk"])
    }

    @Test func `a name chosen by the user outlasts the configured one`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch") { $0.configuration.name = $0.name }
        let couch = members[1]
        func names() throws -> Set<String> { try Set(couch.deviceList().map(\.name)) }
        _ = try members[0].call(.renameDevice, ["device": "couch", "name": "sofa"])
        try fleet.poll("the couch knows its name") { try names() == ["desk", "sofa"] }

        try couch.stop()
        try couch.start()
        // Processed after any change made by the start.
        _ = try couch.call(.renameDevice, ["device": "desk", "name": "table"])
        #expect(try names() == ["table", "sofa"])

        couch.configuration.name = "bench"
        try couch.stop()
        try couch.start()
        try fleet.poll("the couch has another name") { try names() == ["table", "bench"] }
        try fleet.settle(members)
    }

    @Test func `devices with one name are shown with their ids everywhere, even if only one offers`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "den")
        let (desk, couch) = (members[0], members[1])
        _ = try couch.publish(Note.activity("note"))
        let watcher = try desk.watch()
        #expect(try watcher.added().deviceName == "couch")
        try watcher.ready()
        _ = try desk.call(.renameDevice, ["device": "couch", "name": "den"])
        let label = try "den (\(couch.status().device.short))"
        var shown = ""
        try fleet.poll("the offer has another name") {
            guard case .changed(let offer) = try watcher.next() else { return false }
            shown = offer.deviceName
            return shown == label
        }
        #expect(shown == label)
        #expect(try desk.offers().map(\.deviceName) == [label])
        let labels = try Set(desk.deviceList().map(\.label))
        #expect(labels.count == 3 && labels.contains("desk") && labels.contains(label))
        let call = try desk.continue(ContinueRequest(from: label, take: true))
        _ = try call.result()
        let content = try ContinuedActivity(json: try #require(try call.result()["activity"]?.object))
        #expect(content.origin.deviceName == label)
        let off = try desk.call(.setSwitches, ["receive": false, "device": .string(label)])
        #expect(try ControlSwitches(json: off).holds.map(\.message) == ["receiving is switched off: \(label)"])
        try fleet.settle(members)
    }

    @Test func `a name of two devices, one of them this one, is refused with both ids by every call`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let desk = members[0]
        _ = try members[1].publish(Note.activity("note"))
        try fleet.poll("an offer") { try !desk.offers().isEmpty }
        _ = try desk.call(.renameDevice, ["device": "couch", "name": "desk"])
        let ids = try members.map { try $0.status().device }.sorted()
        let calls: [(ControlMethod, JSONObject)] = [
            (.renameDevice, ["device": "desk", "name": "x"]), (.removeDevice, ["device": "desk"]),
            (.setSwitches, ["receive": false, "device": "desk"]),
            (.continue, ContinueRequest(from: "desk", take: true).json),
        ]
        for (method, parameters) in calls {
            let refused = try desk.open(method.rawValue, parameters, more: true).refusal()
            #expect(refused.name == ControlErrorName.ambiguousIdentifier.rawValue, "\(method)")
            #expect(refused.parameters["candidates"] == .array(ids.map { .string($0.hex) }), "\(method)")
            let message = refused.parameters["message"]?.string ?? ""
            #expect(ids.allSatisfy { message.contains("desk (\($0.short))") }, "\(message)")
        }
        var activity = Note.activity("sent")
        activity.to = "desk"
        let refused = try desk.open(
            AppMethod.publish.rawValue, ["activity": .object(activity.json)], more: true
        ).refusal()
        let message = refused.parameters["message"]?.string ?? ""
        #expect(ids.allSatisfy { message.contains("desk (\($0.short))") }, "\(refused)")
    }

    @Test func `failures name a device as the account does`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let (desk, couch) = (members[0], members[1])
        _ = try desk.call(.renameDevice, ["device": "desk", "name": "table"])
        try fleet.poll("both know the name") {
            try members.allSatisfy { try $0.deviceList().contains { $0.name == "table" } }
        }
        let editor = try desk.attach("Editor")
        _ = try editor.engage(Note.activity("note"))
        let viewer = try couch.attach("Viewer")
        try viewer.declare(Note.type, VersionRange(minimum: AppVersion("3")))
        try fleet.poll("an offer") { try !couch.offers().isEmpty }

        let failure = try couch.continue().failure()

        #expect(failure.reason == "otherVersion")
        #expect(failure.message.hasPrefix("table reported: the app on table has version 2.1"), "\(failure)")
    }

    @Test func `a name reaches a member whose connection has ended unnoticed`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let (desk, couch) = (members[0], members[1])
        // A connection that was opened to sync the rosters would soon be closed anyway.
        try fleet.poll("the connection is closed") {
            fleet.pass(.seconds(1))
            return try members.allSatisfy { try !$0.status().peers.contains(where: \.connected) }
        }
        _ = try desk.publish(Note.activity("note"))
        try fleet.poll("an offer") { try !couch.offers().isEmpty }
        let call = try couch.continue(ContinueRequest(take: true))
        _ = try call.result()
        _ = try call.result()
        for member in members { #expect(try member.status().peers.contains(where: \.connected)) }
        for member in members { member.freezeConnections() }

        let begin = fleet.clock.now
        _ = try desk.call(.renameDevice, ["device": "desk", "name": "table"])
        try fleet.poll("the couch knows the name") {
            try couch.deviceList().contains { $0.name == "table" }
        }
        #expect(fleet.clock.now - begin < .seconds(30))
    }
}
