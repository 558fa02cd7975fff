import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct DeviceRemoveCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static func device(_ byte: UInt8, _ name: String, by admitter: UInt8?) -> ControlDevice {
        ControlDevice(
            id: Sample.device(byte), name: name, kind: .laptop, isSelf: byte == 0x3F, online: true,
            admittedBy: admitter.map { Sample.device($0) })
    }

    /// Desk is this device. Laptop admitted Phone, which admitted Watch. Desk admitted Tablet.
    private static let devices = [
        device(0x3F, "Desk", by: nil), device(0x1A, "Laptop", by: 0x3F), device(0x2B, "Phone", by: 0x1A),
        device(0x4C, "Watch", by: 0x2B), device(0x5D, "Tablet", by: 0x3F),
    ]

    private static func event(_ kind: RemovalEvent.Kind, _ confirmed: [UInt8], _ waiting: [UInt8]) -> JSONObject {
        RemovalEvent(
            kind: kind, device: Sample.device(0x1A), confirmed: confirmed.map { Sample.device($0) },
            waiting: waiting.map { Sample.device($0) }
        ).json
    }

    private static func daemon(_ removal: @escaping (FakeDaemon.Call) -> Void) -> (FakeDaemon.Call) -> Void {
        { call in
            guard call.member == "ListDevices" else { return removal(call) }
            call.reply(["devices": .array(devices.map { .object($0.json) })])
        }
    }

    /// All devices confirm the removal.
    private static var all: (FakeDaemon.Call) -> Void {
        daemon { call in
            call.reply(event(.removed, [0x3F], [0x2B, 0x5D]), continues: true)
            call.reply(event(.confirmed, [0x3F, 0x5D], [0x2B]), continues: true)
            call.reply(event(.confirmed, [0x3F, 0x5D, 0x2B], []))
        }
    }

    /// One device does not confirm.
    private static var some: (FakeDaemon.Call) -> Void {
        daemon { call in
            call.reply(event(.removed, [0x3F], [0x2B, 0x5D]), continues: true)
            call.reply(event(.confirmed, [0x3F, 0x5D], [0x2B]), continues: true)
        }
    }

    @Test func `the question lists the devices that the device admitted`() throws {
        run.typing = ["y"]
        #expect(try run.run("device", "remove", "laptop", answer: Self.all) == .failed)
        #expect(run.diagnostics.contains("no device is named 'laptop'"))
        #expect(try run.run("device", "remove", "Laptop", answer: Self.all) == .done)
        #expect(
            run.diagnostics.hasSuffix(
                "Laptop (1a1a1a1) admitted: Phone (2b2b2b2), Watch (4c4c4c4)\n"
                    + "These stay unless you add --drop: Phone (2b2b2b2), Watch (4c4c4c4)\n"
                    + "Permanently remove Laptop (1a1a1a1)? [y/N] "))
        #expect(
            run.output == """
                removed    Laptop (1a1a1a1)
                confirmed  Tablet (5d5d5d5)
                confirmed  Phone (2b2b2b2)

                """)
        #expect(run.daemon.parameters(of: "RemoveDevice") == ["device": .string(Sample.device(0x1A).hex)])
        #expect(run.prompts == [.answer])
    }

    @Test func `dropped devices are named in the question and removed as well`() throws {
        run.typing = ["y"]
        let words = ["device", "remove", "1a1a1a1", "--drop", "Phone", "--drop=2b2b"]
        #expect(try run.run(words, answer: Self.all) == .done)
        #expect(run.diagnostics.contains("unless you add --drop: Watch (4c4c4c4)\n"))
        #expect(run.diagnostics.contains("Permanently remove Laptop (1a1a1a1), Phone (2b2b2b2)? [y/N] "))
        let expected: JSONObject = [
            "device": .string(Sample.device(0x1A).hex), "drop": [.string(Sample.device(0x2B).hex)],
        ]
        #expect(run.daemon.parameters(of: "RemoveDevice") == expected)
    }

    @Test func `for a device that admitted no other only the question is shown`() throws {
        run.typing = ["n"]
        #expect(try run.run("device", "remove", "Tablet", answer: Self.all) == .failed)
        #expect(run.diagnostics.hasPrefix("Permanently remove Tablet (5d5d5d5)? [y/N] "))
        #expect(run.daemon.methods == ["ListDevices"])
        #expect(run.diagnostics.contains("nothing was changed"))
    }

    @Test func `without a terminal it needs yes`() throws {
        #expect(try run.run("device", "remove", "Laptop", answer: Self.all) == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
        #expect(run.diagnostics.contains("with --yes"))
        let other = try CommandRun()
        #expect(try other.run("device", "remove", "Laptop", "--yes", answer: Self.all) == .done)
        #expect(other.prompts.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `after the timeout the unconfirmed devices and the consequence are shown`() throws {
        let clock = ManualClock()
        let run = try CommandRun(clock: clock)
        run.onOutput = { text in
            if text.hasPrefix("confirmed  Tablet") { run.afterReplies { clock.advance(by: .seconds(5)) } }
        }
        let words = ["device", "remove", "Laptop", "--yes", "--timeout", "5"]
        #expect(try run.run(words, answer: Self.some) == .done)
        #expect(run.output.hasSuffix("confirmed  Tablet (5d5d5d5)\npending    Phone (2b2b2b2)\n"))
        #expect(
            run.diagnostics == "handoffctl: until pending devices confirm, Laptop can still read their offers\n")
    }

    @Test(.timeLimit(.minutes(5)))
    func `by default it follows the removal for ten seconds`() throws {
        let clock = ManualClock()
        let run = try CommandRun(clock: clock)
        var moved = 0
        run.onOutput = { text in
            guard text.hasPrefix("confirmed  Tablet") else { return }
            #expect(run.context?.status == nil)
            clock.advance(by: .seconds(9))
            moved += 9
            run.later {
                #expect(run.context?.status == nil)
                clock.advance(by: .seconds(1))
                moved += 1
            }
        }
        #expect(try run.run("device", "remove", "Laptop", "--yes", answer: Self.some) == .done)
        #expect(moved == 10)
        #expect(run.output.contains("pending    Phone"))
    }

    @Test func `with no wait it ends immediately`() throws {
        #expect(try run.run("device", "remove", "Laptop", "--yes", "--no-wait", answer: Self.some) == .done)
        #expect(run.output.contains("pending    Phone (2b2b2b2), Tablet (5d5d5d5)\n"))
    }

    @Test func `an interrupt ends the wait but not the removal`() throws {
        run.onOutput = { [run] text in if text.hasPrefix("confirmed  Tablet") { run.interruptSoon() } }
        #expect(try run.run("device", "remove", "Laptop", "--yes", answer: Self.some) == .done)
        #expect(run.output.contains("pending    Phone"))
    }

    @Test func `every event is an object`() throws {
        #expect(try run.run("--json", "device", "remove", "Laptop", "--yes", answer: Self.all) == .done)
        #expect(run.objects.map { $0["event"] } == ["removed", "confirmed", "confirmed"])
        #expect(run.objects.last?["waiting"] == [])
        #expect(run.objects.first?["device"] == .string(Sample.device(0x1A).hex))
        #expect(run.diagnostics.isEmpty)
    }

    @Test func `a device cannot remove itself`() throws {
        for words in [["Desk"], ["Laptop", "--drop", "Desk"]] {
            let run = try CommandRun()
            #expect(try run.run(["device", "remove", "--yes"] + words, answer: Self.all) == .failed)
            #expect(run.diagnostics.contains("handoffctl account leave"))
            #expect(run.daemon.methods == ["ListDevices"])
        }
    }

    @Test func `a refusal is reported`() throws {
        let daemon = Self.daemon {
            $0.fail(ControlErrorName.accountRefused.rawValue, ["message": "Watch was not let in by it"])
        }
        let words = ["device", "remove", "Laptop", "--drop", "Watch", "--yes"]
        #expect(try run.run(words, answer: daemon) == .failed)
        #expect(run.diagnostics == "handoffctl: Watch was not let in by it\n")
    }

    @Test func `when the daemon stops, the last known unconfirmed devices are shown`() throws {
        let daemon = Self.daemon { call in
            call.reply(Self.event(.removed, [0x3F], [0x2B]), continues: true)
            call.crash()
        }
        #expect(try run.run("device", "remove", "Laptop", "--yes", answer: daemon) == .daemonNotReachable)
        #expect(run.output.hasPrefix("removed    Laptop"))
        #expect(run.output.hasSuffix("pending    Phone (2b2b2b2)\n"))
    }
}
