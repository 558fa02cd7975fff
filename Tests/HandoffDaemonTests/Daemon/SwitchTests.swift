import HandoffControl
import HandoffDaemon
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Advertising and receiving that are switched off, between whole daemons.
@Suite final class SwitchTests {
    private let fleet: Fleet

    init() throws {
        fleet = try Fleet()
    }

    deinit {
        fleet.end()
    }

    @Test func `a recent offer is not handed over once advertising is off`() throws {
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        let watcher = try couch.watch()
        try watcher.ready()
        let editor = try desk.attach("Editor")
        let id = try editor.engage(Note.activity("hidden"))
        #expect(try watcher.added().id == id)

        // The change does not arrive, so the other device requests an offer that it considers
        // valid. After some seconds the desk would notify it over a connection.
        couch.blockDatagrams()
        couch.discovery.stopReceiving()
        let refusal = try fleet.withClockStopped {
            _ = try desk.call(.setSwitches, SetSwitchesRequest(advertise: false).json)
            return try couch.continue(ContinueRequest(activity: id.hex, take: true)).refusal()
        }

        #expect(refusal.name == ControlErrorName.continuationFailed.rawValue)
        #expect(refusal.parameters["reason"]?.string == "paused")
    }

    @Test func `an activity that may not be advertised is listed with the reason`() throws {
        let devices = try fleet.account("desk", "couch")
        let desk = devices[0]
        let editor = try desk.attach("Editor")
        _ = try editor.engage(Note.activity("hidden"))
        func listed() throws -> JSONObject? {
            try desk.call(.listPublished)["activities"]?.array?.first?.object
        }
        #expect(try listed()?["offered"] == .bool(true))
        _ = try desk.call(.setSwitches, SetSwitchesRequest(advertise: false).json)
        #expect(try listed()?["offered"] == .bool(false))
        #expect(try listed()?["reason"]?.string == "advertising is switched off")
    }

    @Test(arguments: ["two words", "/bin/sh", "-x", "naïve", "a=b", "\u{202E}abc"])
    func `an app that could not be disabled is refused`(name: String) throws {
        let desk = try fleet.account("desk")[0]
        let call = try desk.open(AppMethod.attach.rawValue, AttachRequest(app: name).json, more: true)
        let refusal = try call.refusal()
        #expect(refusal.name == AppErrorName.invalidApp.rawValue)
        #expect(refusal.parameters["app"]?.string == name)
        #expect(refusal.parameters["message"]?.string?.contains("org.example.Editor") == true)
    }

    @Test func `a temporary switch ends by the clock`() throws {
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        let watcher = try couch.watch()
        try watcher.ready()
        let editor = try desk.attach("Editor")
        let id = try editor.engage(Note.activity("back again"))
        #expect(try watcher.added().id == id)
        let request = SetSwitchesRequest(advertise: false, receive: false, seconds: 100)
        let switches = try ControlSwitches(json: try desk.call(.setSwitches, request.json))
        #expect(switches.holds.count == 2)
        #expect(try watcher.removed().id == id)
        fleet.pass(.seconds(31))
        fleet.pass(.seconds(31))
        fleet.pass(.seconds(31))
        #expect(!(try desk.status().switches.advertising))
        fleet.pass(.seconds(31))
        #expect(try watcher.added().id == id)
        #expect(try desk.status().switches == ControlSwitches())
    }
}
