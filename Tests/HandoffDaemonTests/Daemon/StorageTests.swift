import Glibc
import HandoffControl
import HandoffJSON
import HandoffTestSupport
import Testing

/// Whole daemons whose state folder cannot be written.
@Suite struct StorageTests {
    /// Creates a folder in place of the file that each new version is written to. Even root cannot
    /// write there.
    private func blockAccountFile(of device: TestDevice) throws {
        try #require(mkdir(device.state.file(".account.new"), 0o700) == 0)
    }

    private func unblockAccountFile(of device: TestDevice) throws {
        try #require(rmdir(device.state.file(".account.new")) == 0)
    }

    @Test func `an account that cannot be stored is not created`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        try blockAccountFile(of: desk)

        let refusal = try desk.open(ControlMethod.createAccount.rawValue).refusal()

        #expect(refusal.name == ControlErrorName.storageFailed.rawValue)
        #expect(refusal.parameters["message"]?.string?.contains(desk.state.path) == true)
        #expect(try desk.status().account == nil)
        #expect(desk.discovery.publication == nil)
        try unblockAccountFile(of: desk)
        _ = try desk.call(.createAccount)
        #expect(try desk.status().account != nil)
    }

    @Test func `an account that cannot be stored is not joined`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        try blockAccountFile(of: couch)

        let answer = try couch.offerAccountFile(file)

        #expect(answer["error"]?.string == ControlErrorName.storageFailed.rawValue)
        #expect(try couch.status().account == nil)
        #expect(try desk.status().peers.isEmpty)
        try unblockAccountFile(of: couch)
        try couch.importAccount(file)
        try fleet.settle([desk, couch])
    }

    @Test func `a ticket that cannot be stored is not sent`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        try blockAccountFile(of: desk)

        let answer = try desk.exportAccount()
        let end = try #require(answer.firstIndex(of: 0))
        let error = try JSON(parsing: answer[..<end], limits: JSONLimits(bytes: 4096)).object
        #expect(error?["error"]?.string == ControlErrorName.storageFailed.rawValue)
        #expect(error?["message"]?.string?.contains(desk.state.path) == true)

        #expect(try desk.status().tickets.isEmpty)
        try unblockAccountFile(of: desk)
        #expect(try !desk.exportAccount().isEmpty)
    }

    @Test func `a static peer that cannot be stored is not added`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        try #require(mkdir(desk.state.file(".peers.new"), 0o700) == 0)
        let call = try desk.open(ControlMethod.addPeer.rawValue, ["address": "127.0.0.1:9"])
        #expect(try call.refusal().name == ControlErrorName.storageFailed.rawValue)
        #expect(try desk.status().peers.isEmpty)
        try #require(rmdir(desk.state.file(".peers.new")) == 0)
    }

    @Test func `an address that was never added cannot be removed`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.addPeer, ["address": "127.0.0.1:9"])
        let call = try desk.open(ControlMethod.removePeer.rawValue, ["address": "127.0.0.1:10"])
        #expect(try call.refusal().name == ControlErrorName.invalidAddress.rawValue)
        #expect(try desk.status().peers.map(\.address) == ["127.0.0.1:9"])
        _ = try desk.call(.removePeer, ["address": "127.0.0.1:9"])
        #expect(try desk.status().peers.isEmpty)
    }
}
