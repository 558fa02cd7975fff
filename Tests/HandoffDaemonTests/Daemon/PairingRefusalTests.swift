import HandoffControl
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffPairing
import HandoffTestSupport
import LoopIO
import Testing

/// Pairing that ends without a new member, by whole daemons: the reported reasons, and the
/// remaining options.
@Suite final class PairingRefusalTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        desk = try fleet.device("desk")
        couch = try fleet.device("couch")
        _ = try desk.call(.createAccount)
    }

    deinit {
        fleet.end()
    }

    // MARK: - Refused calls

    @Test func `a window needs an account`() throws {
        let refusal = try couch.open(ControlMethod.pair.rawValue, more: true).refusal()
        #expect(refusal.name == ControlErrorName.noAccount.rawValue)
    }

    @Test(arguments: [ControlMethod.pair, .join]) func `the client must accept more replies`(_ method: ControlMethod)
        throws
    {
        let refusal = try desk.open(method.rawValue, ["code": "12345678"]).refusal()
        #expect(refusal.name == ControlErrorName.expectedMore.rawValue)
    }

    @Test func `there is one window at a time`() throws {
        let window = try desk.pair()
        _ = try window.opened()
        #expect(try desk.pair().failure() == "busy")
        window.close()
        _ = try fleet.poll("the window is closed") { fleet.pairingNetwork.stationCount == 0 }
        _ = try desk.pair().opened()
    }

    @Test func `a device that has an account does not join`() throws {
        let refusal = try desk.join(code: "12345678").refusal()
        #expect(refusal.name == ControlErrorName.accountExists.rawValue)
        #expect(try refusal.parameters["account"]?.string == desk.status().account?.hex)
    }

    @Test(arguments: ["", "1234567", "123456789", "1234567x"]) func `an invalid code fails immediately`(_ code: String)
        throws
    {
        #expect(try couch.join(code: code).failure() == "wrongCode")
    }

    @Test(arguments: ["", "handoff:pair/1/", "handoff:pair/2/abc/1.2.3.4:5", "https://example.org"])
    func `an invalid link fails immediately`(_ link: String) throws {
        #expect(try couch.join(link: link).failure() == "failed")
    }

    @Test(arguments: ["", "host", "1.2.3.4", "1.2.3.4:0"]) func `an invalid address fails immediately`(_ text: String)
        throws
    {
        let refusal = try couch.join(code: "12345678", address: text).refusal()
        #expect(refusal.name == ControlErrorName.invalidAddress.rawValue)
    }

    @Test func `an answer about a device that does not wait is refused`() throws {
        let device = PairingDevice(id: try couch.status().device, name: "couch")
        #expect(throws: OpenCall.Refused.self) { try self.desk.answer(device, accept: true) }
        _ = try desk.pair().opened()
        #expect(throws: OpenCall.Refused.self) { try self.desk.answer(device, accept: true) }
    }

    // MARK: - No inviter

    @Test func `a join without an inviter fails`() throws {
        let join = try couch.join(code: "12345678")
        #expect(try join.next() == .looking)
        try fleet.poll("it looks") { fleet.pairingNetwork.stationCount == 1 }
        fleet.pass(.seconds(31))
        #expect(try join.failure() == "nobodyThere")
        try fleet.poll("it has stopped searching") { fleet.pairingNetwork.stationCount == 0 }
    }

    @Test func `a window that opens later is found`() throws {
        let join = try couch.join(code: "12345678")
        #expect(try join.next() == .looking)
        fleet.pass(.seconds(10))
        _ = try desk.pair().opened()
        guard case .calling = try join.next() else { throw UnexpectedEvent() }
    }

    @Test func `an address without a listener is unreachable`() throws {
        let port = try BoundPort(port: 0, address: .loopbackIPv4).port
        #expect(try couch.join(code: "12345678", address: "127.0.0.1:\(port)").failure() == "unreachable")
    }

    @Test func `an address with another service is unreachable`() throws {
        #expect(try couch.join(code: "12345678", address: desk.address.description).failure() == "unreachable")
        #expect(try desk.status().warnings.isEmpty)
    }

    @Test func `an address whose host does not exist is unreachable`() throws {
        #expect(try couch.join(code: "12345678", address: "no-such-host.invalid:24863").failure() == "unreachable")
    }

    @Test func `a window of another version is reported`() throws {
        let station = fleet.pairingNetwork.station()
        let text = [Array("v=2".utf8)]
        station.publish(Publication(instance: "later", host: "host", port: 9, text: text))
        let join = try couch.join(code: "12345678")
        #expect(try join.next() == .looking)
        try fleet.poll("it looks") { fleet.pairingNetwork.stationCount == 2 }
        fleet.pass(.seconds(4))
        #expect(try join.failure() == "versionsDiffer")
    }

    // MARK: - Cancellation

    @Test func `the user declines`() throws {
        let window = try desk.pair()
        let join = try couch.join(code: try window.opened().code)
        let device = try window.confirm()
        try desk.answer(device, accept: false)
        #expect(try window.failure() == "declined")
        #expect(try join.failure() == "declined")
        #expect(try couch.status().account == nil)
        #expect(try desk.members() == ["desk"])
    }

    @Test func `the joiner cancels during the search`() throws {
        let join = try couch.join(code: "12345678")
        #expect(try join.next() == .looking)
        join.close()
        try fleet.poll("it has stopped searching") { fleet.pairingNetwork.stationCount == 0 }
        let window = try desk.pair(automatic: true)
        _ = try couch.join(code: try window.opened().code).account()
    }

    @Test func `the joiner cancels during the confirmation`() throws {
        let window = try desk.pair()
        let code = try window.opened().code
        let join = try couch.join(code: code)
        let device = try window.confirm()
        join.close()
        #expect(try window.next() == .gone(device))
        #expect(throws: OpenCall.Refused.self) { try self.desk.answer(device, accept: true) }

        // The window continues with the same code.
        let again = try couch.join(code: code)
        try desk.answer(try window.confirm(), accept: true)
        try window.joined(device)
        _ = try again.account()
    }

    @Test func `the inviter cancels before any joiner calls`() throws {
        let window = try desk.pair()
        let opened = try window.opened()
        window.close()
        try fleet.poll("nothing is announced") { fleet.pairingNetwork.publications.isEmpty }
        let address = try #require(opened.addresses.first)
        #expect(try couch.join(code: opened.code, address: address).failure() == "unreachable")
    }

    @Test func `the inviter cancels during the confirmation`() throws {
        let window = try desk.pair()
        let join = try couch.join(code: try window.opened().code)
        _ = try window.confirm()
        window.close()
        #expect(try join.failure() == "cancelled")
        #expect(try desk.members() == ["desk"])
    }

    @Test func `after the confirmation, joining no longer needs the client`() throws {
        let window = try desk.pair()
        let join = try couch.join(code: try window.opened().code)
        let device = try window.confirm()
        let answer = try desk.open(
            ControlMethod.answerPairing.rawValue, ["device": .string(device.id.hex), "accept": true])
        #expect(try window.next() == .joining(device))
        window.close()
        _ = try answer.result()
        _ = try join.account()
        try fleet.settle([desk, couch])
    }

    @Test func `the inviter's daemon stops`() throws {
        let window = try desk.pair()
        let join = try couch.join(code: try window.opened().code)
        _ = try window.confirm()
        try desk.stop()
        #expect(try join.failure() == "cancelled")
        #expect(fleet.pairingNetwork.publications.isEmpty)
    }

    @Test func `the joiner's daemon stops`() throws {
        let window = try desk.pair()
        let code = try window.opened().code
        _ = try couch.join(code: code)
        let device = try window.confirm()
        try couch.stop()
        #expect(try window.next() == .gone(device))
        try couch.start()
        let again = try couch.join(code: code)
        try desk.answer(try window.confirm(), accept: true)
        _ = try again.account()
    }

    @Test func `the joiner gets an account in another way`() throws {
        let window = try desk.pair()
        let join = try couch.join(code: try window.opened().code)
        let device = try window.confirm()
        _ = try couch.call(.createAccount)
        #expect(try join.failure() == "alreadyMember")
        #expect(try window.failure() == "alreadyMember")
        #expect(try desk.members() == ["desk"])
        #expect(throws: OpenCall.Refused.self) { try self.desk.answer(device, accept: true) }
    }

    // MARK: - The inviter loses its membership

    /// The way in which the inviter loses its membership.
    enum WayOut: CaseIterable {
        case leaves
        case isRemoved
    }

    private func remove(_ name: String, by member: TestDevice) throws {
        _ = try member.open(ControlMethod.removeDevice.rawValue, ["device": .string(name)], more: true).result()
    }

    @Test(arguments: WayOut.allCases, [false, true])
    private func `a window closes when its device is no longer a member`(_ way: WayOut, _ isAsked: Bool) throws {
        let train = try fleet.device("train")
        _ = try train.join(code: try desk.pair(automatic: true).opened().code).account()
        try fleet.settle([desk, train])

        let window = try desk.pair()
        let opened = try window.opened()
        let join = isAsked ? try couch.join(code: opened.code) : nil
        let device = isAsked ? try window.confirm() : nil
        switch way {
        case .leaves: _ = try desk.call(.leaveAccount)
        case .isRemoved: try remove("desk", by: train)
        }

        let end = try window.end()
        #expect(end.reason == "cancelled")
        #expect(end.message.contains("no longer in the account"))
        if let told = try join?.end() {
            #expect(told.reason == "cancelled")
            #expect(told.message.contains("another device of the account"))
        }
        try fleet.poll("nothing is announced") { fleet.pairingNetwork.publications.isEmpty }
        // Nothing responds at the address any more, and no client waits for an answer.
        let address = try #require(opened.addresses.first)
        #expect(try couch.join(code: opened.code, address: address).failure() == "unreachable")
        if let device { #expect(throws: OpenCall.Refused.self) { try self.desk.answer(device, accept: true) } }

        // The remedy that the joiner reported works.
        _ = try couch.join(code: try train.pair(automatic: true).opened().code).account()
        try fleet.settle([train, couch])
        try fleet.poll("the names are known") { try train.members() == ["train", "couch"] }
    }

    @Test func `a removed device reports its removal when it invites or joins`() throws {
        let train = try fleet.device("train")
        _ = try train.join(code: try desk.pair(automatic: true).opened().code).account()
        try fleet.settle([desk, train])
        try remove("train", by: desk)
        try fleet.poll("the train knows") { try !train.status().warnings.isEmpty }
        let calls = [
            try train.open(ControlMethod.pair.rawValue, more: true),
            try train.open(ControlMethod.join.rawValue, ["code": "12345678"], more: true),
        ]
        for call in calls {
            let refusal = try call.refusal()
            #expect(refusal.name == ControlErrorName.accountRefused.rawValue)
            let message = try #require(refusal.parameters["message"]?.string)
            #expect(message.contains("was removed from account") && message.contains("leave it"), "\(message)")
        }
    }

    // MARK: - Time

    @Test func `the window expires`() throws {
        let window = try desk.pair()
        let opened = try window.opened()
        #expect(opened.seconds == 180)
        fleet.pass(.seconds(181))
        #expect(try window.failure() == "windowClosed")
        let address = try #require(opened.addresses.first)
        #expect(try couch.join(code: opened.code, address: address).failure() == "unreachable")
    }

    @Test func `the answer may arrive a minute after the end of the window`() throws {
        let window = try desk.pair()
        let join = try couch.join(code: try window.opened().code)
        let device = try window.confirm()
        // Until then the joiner has seconds for its part.
        _ = try join.inviter()
        fleet.pass(.seconds(200))
        try desk.answer(device, accept: true)
        try window.joined(device)
        _ = try join.account()
    }

    @Test func `the answer may arrive too late`() throws {
        // The clock runs until it is stopped. The window opens between these two times.
        let before = fleet.clock.now
        let window = try desk.pair()
        let code = try window.opened().code
        let after = fleet.clock.now
        let join = try couch.join(code: code)
        _ = try window.confirm()
        _ = try join.inviter()
        try fleet.withClockStopped {
            fleet.pass(before.advanced(by: .seconds(239)).duration(since: fleet.clock.now))
            _ = try desk.status()
            #expect(window.waiting == 0)
        }
        fleet.pass(after.advanced(by: .seconds(242)).duration(since: fleet.clock.now))
        #expect(try window.failure() == "windowClosed")
        #expect(try join.failure() == "windowClosed")
    }
}
