import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Tests the calls that change the membership of the account.
@Suite struct MemberCallTests {
    private let test: LoopTest
    private let daemon: FakeDaemon
    private let client: ControlClient

    init() throws {
        test = try LoopTest()
        daemon = try FakeDaemon(path: test.folder.file("control.socket"), loop: test.loop)
        client = try ControlClient(path: daemon.path, loop: test.loop)
    }

    private static let device = PairingDevice(id: Sample.device(0x1A), name: "Laptop")
    private static let window = PairEvent.opened(
        PairingWindowDescription(code: nil, link: "handoff:x", addresses: [], seconds: 180))

    /// Follows a call until it fails or is known to be complete.
    private func follow<Event>(
        _ events: Int, _ call: (@escaping (Result<Event, ClientError>) -> Void) -> Void
    ) throws -> [Result<Event, ClientError>] {
        var results: [Result<Event, ClientError>] = []
        call { result in
            results.append(result)
            if results.count == events { test.end() }
        }
        try test.run()
        return results
    }

    @Test func `pairing is followed until a device has joined`() throws {
        daemon.onCall = { call in
            call.reply(Self.window.json, continues: true)
            call.reply(PairEvent.joined(Self.device).json)
        }
        let events = try follow(2) { client.pair(automatic: true, $0) }
        #expect(events == [.success(Self.window), .success(.joined(Self.device))])
        #expect(daemon.log.first?.more == true)
        #expect(daemon.parameters(of: "Pair") == ["automatic": true])
    }

    @Test func `pairing that ends with another event is an invalid reply`() throws {
        daemon.onCall = { $0.reply(PairEvent.joining(Self.device).json) }
        let events = try follow(1) { client.pair(automatic: false, $0) }
        #expect(events == [.failure(.badAnswer("the events ended too early"))])
        #expect(daemon.parameters(of: "Pair") == [:])
    }

    @Test func `joining is followed until this device has joined`() throws {
        daemon.onCall = { call in
            call.reply(JoinEvent.looking.json, continues: true)
            call.reply(JoinEvent.joined(Sample.account, by: Self.device).json)
        }
        let events = try follow(2) { client.join(JoinRequest(code: "12345678", address: "desk:1"), $0) }
        #expect(events == [.success(.looking), .success(.joined(Sample.account, by: Self.device))])
        #expect(daemon.parameters(of: "Join") == ["code": "12345678", "address": "desk:1"])
    }

    @Test func `joining that ends with another event is an invalid reply`() throws {
        daemon.onCall = { $0.reply(JoinEvent.waiting(Self.device).json) }
        let events = try follow(1) { client.join(JoinRequest(link: "handoff:x"), $0) }
        #expect(events == [.failure(.badAnswer("the events ended too early"))])
    }

    @Test func `a failed pairing keeps its reason`() throws {
        daemon.onCall = { $0.fail(ControlErrorName.pairingFailed.rawValue, ["reason": "busy", "message": "wait"]) }
        let events = try follow(1) { client.join(JoinRequest(code: "12345678"), $0) }
        guard case .failure(.refused(let refusal)) = events.first else {
            Issue.record("no refusal: \(events)")
            return
        }
        #expect(refusal.kind == "PairingFailed")
        #expect(refusal.parameters["reason"] == "busy")
    }

    @Test func `a removal marks the last event`() throws {
        func event(_ kind: RemovalEvent.Kind, _ waiting: [DeviceID]) -> RemovalEvent {
            RemovalEvent(kind: kind, device: Self.device.id, confirmed: [Sample.device(1)], waiting: waiting)
        }
        let first = event(.removed, [Sample.device(2)])
        let second = event(.confirmed, [])
        daemon.onCall = { call in
            call.reply(first.json, continues: true)
            call.reply(second.json)
        }
        var events: [RemovalEvent] = []
        var lasts: [Bool] = []
        client.removeDevice(Self.device.id, drop: [Sample.device(3)]) { result, isLast in
            if let event = try? result.get() { events.append(event) }
            lasts.append(isLast)
            if isLast { test.end() }
        }
        try test.run()
        #expect(events == [first, second])
        #expect(lasts == [false, true])
        let expected: JSONObject = [
            "device": .string(Self.device.id.hex), "drop": [.string(Sample.device(3).hex)],
        ]
        #expect(daemon.parameters(of: "RemoveDevice") == expected)
    }

    @Test func `calls with one reply send their parameters`() throws {
        daemon.onCall = { call in
            switch call.member {
            case "LeaveAccount": call.reply(["told": [.string(Sample.device(2).hex)]])
            case "RotateKey": call.reply(["epoch": 9])
            default: call.reply()
            }
        }
        var told: [DeviceID]?
        var epoch: Int?
        client.answerPairing(device: Self.device.id, accept: false) { _ in }
        client.renameDevice(Self.device.id, name: "New") { _ in }
        client.revokeExport(ticket: "ab") { _ in }
        client.leaveAccount { told = try? $0.get() }
        client.rotateKey { result in
            epoch = try? result.get()
            test.end()
        }
        try test.run()
        #expect(told == [Sample.device(2)])
        #expect(epoch == 9)
        let id = JSON.string(Self.device.id.hex)
        #expect(daemon.parameters(of: "AnswerPairing") == ["device": id, "accept": false])
        #expect(daemon.parameters(of: "RenameDevice") == ["device": id, "name": "New"])
        #expect(daemon.parameters(of: "RevokeExport") == ["ticket": "ab"])
    }

    @Test func `an account file is requested with its passphrase`() throws {
        var received: [UInt8] = []
        daemon.onCall = { call in
            call.upgrade(
                received: { bytes, stream in
                    received += bytes
                    guard received.count == 4 + 300 else { return }
                    stream.write([1])
                    stream.finish()
                }, ended: { _ in })
        }
        let passphrase = Array(repeating: UInt8(0x70), count: 300)
        client.exportAccount(passphrase: SecretBuffer(passphrase)) { _ in test.end() }
        try test.run()
        #expect(received == [0, 0, 1, 44] + passphrase)
    }
}
