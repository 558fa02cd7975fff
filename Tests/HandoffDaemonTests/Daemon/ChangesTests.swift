import HandoffControl
import HandoffDaemon
import HandoffJSON
import HandoffModel
import Testing

/// `FollowChanges` of whole daemons.
@Suite final class ChangesTests {
    private let fleet: Fleet

    init() throws {
        fleet = try Fleet()
    }

    deinit {
        fleet.end()
    }

    private func follow(_ device: TestDevice) throws -> OpenCall {
        try device.open(ControlMethod.followChanges.rawValue, more: true)
    }

    private func changed(_ call: OpenCall) throws -> [ControlChanges.Part] {
        try ControlChanges(json: try call.result()).changed.compactMap(\.known)
    }

    @Test func `a new follower is notified of every part, and then of the parts that changed`() throws {
        let desk = try fleet.device("desk")
        let call = try follow(desk)
        #expect(try changed(call) == [.status, .devices, .apps, .recent])
        _ = try desk.call(.createAccount)
        #expect(try changed(call) == [.status])
        _ = try desk.call(.setSwitches, SetSwitchesRequest(advertise: false).json)
        #expect(try changed(call) == [.status])
        let editor = try desk.attach("Editor", types: "com.example.note")
        #expect(try changed(call) == [.apps])
        _ = editor
    }

    @Test func `a change of the devices is reported, but not one before the first follower`() throws {
        let desk = try fleet.account("desk", "couch")[0]
        let first = try follow(desk)
        _ = try changed(first)
        _ = try desk.call(.renameDevice, ["device": "couch", "name": "sofa"])
        var parts = try changed(first)
        while !parts.contains(.devices) { parts = try changed(first) }
        let second = try follow(desk)
        #expect(try changed(second) == [.status, .devices, .apps, .recent])
    }

    @Test func `a change that was reverted is reported, because it may have been read in between`() throws {
        let desk = try fleet.device("desk")
        let call = try follow(desk)
        _ = try changed(call)
        for _ in 1...3 {
            _ = try desk.call(.setSwitches, SetSwitchesRequest(advertise: false).json)
            _ = try desk.call(.setSwitches, SetSwitchesRequest(advertise: true).json)
        }
        #expect(try changed(call) == [.status])
        #expect(try changed(call) == [.status])
    }

    @Test func `a device that goes offline is a change`() throws {
        let devices = try fleet.account("desk", "couch")
        let call = try follow(devices[0])
        _ = try changed(call)
        try devices[1].stop()
        try fleet.poll("the couch is offline") { try !devices[0].deviceList().allSatisfy(\.online) }
        var parts = try changed(call)
        while !parts.contains(.devices) { parts = try changed(call) }
    }

    @Test func `a call without more is refused`() throws {
        let desk = try fleet.device("desk")
        let call = try desk.open(ControlMethod.followChanges.rawValue)
        #expect(try call.refusal().name == ControlErrorName.expectedMore.rawValue)
    }
}
