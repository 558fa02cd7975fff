import Glibc
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Devices that leave their account, by whole daemons.
@Suite struct LeavingTests {
    private func leave(_ device: TestDevice) throws -> Set<String> {
        let told = try #require(try device.call(.leaveAccount)["told"]?.array)
        return Set(told.compactMap(\.string))
    }

    /// Waits until the daemon continues with another identity and without an account.
    private func begins(_ device: TestDevice, otherThan former: DeviceID, in fleet: Fleet) throws {
        try fleet.poll("\(device.name) has a new identity") {
            let status = try device.status()
            return status.account == nil && status.device != former
        }
    }

    @Test func `a leaving device notifies the others and has a new identity afterwards`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let former = try members[2].status()
        let others = try Set(members.prefix(2).map { try $0.status().device.hex })

        #expect(try fleet.withClockStopped { try leave(members[2]) } == others)

        try begins(members[2], otherThan: former.device, in: fleet)
        let status = try members[2].status()
        #expect(status.port == former.port)
        #expect(status.peers.isEmpty)
        #expect(members[2].discovery.publication == nil)
        try fleet.settle(Array(members.prefix(2)))
        for member in members.prefix(2) {
            #expect(try Set(member.deviceList().map(\.name)) == ["desk", "couch"])
        }
    }

    @Test func `a device that admitted the others may leave`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        _ = try leave(members[0])
        try fleet.settle(Array(members.dropFirst()))
        #expect(try Set(members[1].deviceList().map(\.name)) == ["couch", "train"])
    }

    @Test func `a device that was named by a leaving member names itself`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let train = try fleet.device("train")
        _ = try train.join(code: try members[0].pair(automatic: true).opened().code).account()
        try fleet.settle(members + [train])
        _ = try leave(members[0])
        for device in [members[1], train] {
            try fleet.poll("\(device.name) knows the names") { try device.members() == ["couch", "train"] }
        }
        try fleet.settle([members[1], train])
    }

    @Test func `a device that has left joins again as a new one`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let former = try members[1].status().device
        _ = try leave(members[1])
        try begins(members[1], otherThan: former, in: fleet)

        try members[1].importAccount(try members[0].exportAccount())

        try fleet.settle(members)
        let watcher = try members[1].watch()
        try watcher.ready()
        let published = try members[0].publish(Note.activity("again"))
        #expect(try watcher.added().id == published.activity)
    }

    @Test func `the last member leaves and creates another account`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let former = try #require(try desk.call(.createAccount)["account"]?.string)
        let identity = try desk.status().device
        #expect(try leave(desk).isEmpty)
        try begins(desk, otherThan: identity, in: fleet)
        #expect(try desk.call(.createAccount)["account"]?.string != former)
    }

    @Test func `clients are disconnected and may attach again`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let identity = try desk.status().device
        let watcher = try desk.open(ControlMethod.watch.rawValue, more: true)
        _ = try watcher.next()

        _ = try leave(desk)

        try fleet.run("the watcher is disconnected") { watcher.hasEnded }
        try begins(desk, otherThan: identity, in: fleet)
        _ = try desk.attach("org.example.editor", types: Note.type)
    }

    @Test func `a device without an account cannot leave`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let call = try desk.open(ControlMethod.leaveAccount.rawValue)
        #expect(try call.refusal().name == ControlErrorName.noAccount.rawValue)
    }

    @Test func `without reachable members, no member is notified`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        try members[0].stop()
        let identity = try members[1].status().device
        #expect(try leave(members[1]).isEmpty)
        try begins(members[1], otherThan: identity, in: fleet)
    }

    @Test func `a member without a connection is called to be notified`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        // Idle connections are closed after at most two minutes.
        fleet.pass(.seconds(200))
        try fleet.poll("they are apart") { try members[0].status().peers.allSatisfy { !$0.connected } }
        let others = try Set([members[0].status().device.hex])
        #expect(try fleet.withClockStopped { try leave(members[1]) } == others)
    }

    /// The failing write, and the resulting state. A folder in place of a temporary file simulates
    /// a disk error there.
    @Test(arguments: ["account", "leaving", "identity"])
    func `a leave that cannot be stored is completed later`(_ file: String) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let blocked = members[1].state.file(".\(file).new")
        try #require(mkdir(blocked, 0o700) == 0)

        // Otherwise a connection may open or close meanwhile.
        fleet.pass(.zero)
        let before = try fleet.withClockStopped {
            let before = try members[1].status()
            let refusal = try members[1].open(ControlMethod.leaveAccount.rawValue).refusal()
            #expect(refusal.name == ControlErrorName.storageFailed.rawValue)
            if file == "account" { #expect(try members[1].status() == before) }
            return before
        }
        if file == "account" {
            #expect(try members[0].status().peers.count == 1)
        } else {
            #expect(try members[1].status().peers.isEmpty)
            #expect(try members[1].status().warnings.contains { $0.hasSuffix("leave the account again") })
        }
        try #require(rmdir(blocked) == 0)
        try members[1].stop()
        try members[1].start()
        if file == "account" {
            try fleet.settle(members)
        } else {
            let status = try members[1].status()
            #expect(status.account == nil)
            #expect(status.device != before.device)
            #expect(members[1].state.text(of: "leaving") == nil)
        }
    }

    @Test(arguments: ["leaving", "identity"]) func `a failed leave can be requested again`(_ file: String) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let identity = try desk.status().device
        let blocked = desk.state.file(".\(file).new")
        try #require(mkdir(blocked, 0o700) == 0)
        _ = try desk.open(ControlMethod.leaveAccount.rawValue).refusal()
        try #require(rmdir(blocked) == 0)

        _ = try leave(desk)

        try begins(desk, otherThan: identity, in: fleet)
    }
}
