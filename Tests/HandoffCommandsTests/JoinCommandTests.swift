import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct JoinCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static let desk = PairingDevice(id: Sample.device(0x3F), name: "Desk\u{1B}")

    /// Returns a daemon that accepts one code or link and refuses others.
    private static func daemon(_ right: String = "12345678") -> (FakeDaemon.Call) -> Void {
        { call in
            if call.member == "GetAccount" {
                let account = ControlAccount(account: Sample.account, epoch: 3, devices: 4, tickets: [])
                return call.reply(account.json)
            }
            let given = call.parameters["code"]?.string ?? call.parameters["link"]?.string
            guard given == right else { return refuse(call, "wrongCode", "the code is wrong") }
            call.reply(JoinEvent.looking.json, continues: true)
            call.reply(JoinEvent.calling(address: "192.168.1.5:40123").json, continues: true)
            call.reply(JoinEvent.waiting(desk).json, continues: true)
            call.reply(JoinEvent.joined(Sample.account, by: desk).json)
        }
    }

    private static func refuse(_ call: FakeDaemon.Call, _ reason: String, _ message: String) {
        call.fail(
            ControlErrorName.pairingFailed.rawValue, ["reason": .string(reason), "message": .string(message)])
    }

    private var codes: [String?] {
        run.daemon.log.filter { $0.method.hasSuffix(".Join") }.map { $0.parameters["code"]?.string }
    }

    @Test func `a terminal prompts and shows the progress`() throws {
        run.typing = ["1234 5678"]
        #expect(try run.run("join", answer: Self.daemon()) == .done)
        #expect(
            run.output == """
                looking  for a device with an open pairing window
                calling  192.168.1.5:40123
                waiting  for Desk\\u{1B} (3f3f3f3) to confirm
                joined account \(Sample.account.grouped); 4 devices

                """)
        #expect(run.diagnostics == "Code shown on the other device: ")
        #expect(run.prompts == [.text])
    }

    @Test(arguments: [
        "12345678", " 1234 5678 ", "1234-5678", "12 34 56 78", "1234\u{A0}5678",
    ])
    func `digits may be in groups`(_ typed: String) throws {
        run.piped = [typed]
        #expect(try run.run("join", answer: Self.daemon()) == .done)
        #expect(run.daemon.parameters(of: "Join") == ["code": "12345678"])
        #expect(run.prompts.isEmpty)
    }

    @Test(arguments: ["handoff:pair/1/abc/192.168.1.5:1", "HANDOFF:pair/1/abc/192.168.1.5:1"])
    func `a link is recognized by its scheme`(_ typed: String) throws {
        let link = "handoff:pair/1/abc/192.168.1.5:1"
        run.piped = ["  \(typed)\r"]
        #expect(try run.run("join", answer: Self.daemon(link)) == .done)
        #expect(run.daemon.parameters(of: "Join") == ["link": .string(link)])
    }

    @Test(arguments: [
        "1234567", "123456789", "1234567a", "\u{661}2345678", "handoff:pair/1/a b", "https://example.org", "1234_5678",
        "handoff:" + String(repeating: "x", count: 505),
    ])
    func `an invalid code is refused before any request and not repeated`(_ line: String) throws {
        run.piped = [line]
        #expect(try run.run("join", answer: Self.daemon()) == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
        #expect(!run.diagnostics.contains(line))
        #expect(run.diagnostics.contains("8 digits"))
    }

    @Test func `empty standard input is not a code`() throws {
        #expect(try run.run("join", answer: Self.daemon()) == .wrongUsage)
        #expect(run.diagnostics.contains("no code on standard input"))
    }

    @Test(arguments: [["12345678"], ["1234", "5678"], ["handoff:pair/1/abc/192.168.1.5:1"]])
    func `the code is never an argument`(_ words: [String]) throws {
        #expect(try run.run(["join"] + words, answer: Self.daemon()) == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
        #expect(run.diagnostics.contains("cannot be an argument: other users of this machine could read it"))
        for word in words { #expect(!run.diagnostics.contains(word)) }
    }

    @Test func `a wrong code can be corrected but not repeated`() throws {
        run.typing = ["1111 1111", "11111111", "nonsense", "", "12345678"]
        #expect(try run.run("join", answer: Self.daemon()) == .done)
        #expect(codes == ["11111111", "12345678"])
        #expect(run.diagnostics.contains("handoffctl: the code is wrong\nCode shown"))
        #expect(run.diagnostics.contains("handoffctl: that code was already rejected; get a new one"))
        #expect(run.diagnostics.contains("handoffctl: not a code"))
        #expect(run.prompts.count == 5)
    }

    @Test func `a program gets one attempt`() throws {
        run.piped = ["11111111", "12345678"]
        #expect(try run.run("join", answer: Self.daemon()) == .failed)
        #expect(codes == ["11111111"])
    }

    @Test(arguments: [
        ("codeUsed", "get a new code"), ("windowClosed", "get a new code"), ("busy", "in a moment"),
        ("declined", "handoffctl pair"), ("nobodyThere", "--peer HOST:PORT"), ("unreachable", "firewall"),
        ("noNetwork", "network"), ("untrusted", "does not know the code"), ("versionsDiffer", "same version"),
        ("alreadyMember", "handoffctl account leave"), ("removed", "handoffctl account leave"),
        ("accountFull", "handoffctl device remove"),
    ])
    func `other failures end it with advice`(_ reason: String, _ advice: String) throws {
        run.typing = ["12345678"]
        #expect(try run.run("join") { Self.refuse($0, reason, "it failed") } == .failed)
        let lines = run.diagnostics.split(separator: "\n")
        #expect(lines.contains("handoffctl: it failed") || lines.contains { $0.hasSuffix("handoffctl: it failed") })
        #expect(lines.contains { $0.hasPrefix("  ") && $0.contains(advice) })
    }

    @Test func `a device with an account is advised to leave it`() throws {
        run.piped = ["12345678"]
        let status = try run.run("join") {
            $0.fail(ControlErrorName.accountExists.rawValue, ["account": "ac", "message": "there is one"])
        }
        #expect(status == .failed)
        #expect(run.diagnostics.hasSuffix("there is one\n  first leave that account with: handoffctl account leave\n"))
    }

    @Test(arguments: ["cancelled", "failed", "somethingNew"])
    func `a reason without advice is shown unchanged`(_ reason: String) throws {
        run.piped = ["12345678"]
        #expect(try run.run("join", "--json") { Self.refuse($0, reason, "it failed") } == .failed)
        #expect(
            run.errorObjects == [
                ["version": 1, "error": "PairingFailed", "message": "it failed", "reason": .string(reason)]
            ])
    }

    @Test func `the address of the other device is passed on`() throws {
        run.piped = ["12345678"]
        #expect(try run.run("join", "--peer", "desk:40123", answer: Self.daemon()) == .done)
        #expect(run.daemon.parameters(of: "Join") == ["code": "12345678", "address": "desk:40123"])
    }

    @Test func `every event is an object`() throws {
        run.piped = ["12345678"]
        #expect(try run.run("join", "--json", answer: Self.daemon()) == .done)
        let device: JSON = ["id": .string(Self.desk.id.hex), "name": .string(Self.desk.name)]
        #expect(
            run.objects == [
                ["version": 1, "event": "looking"],
                ["version": 1, "event": "calling", "address": "192.168.1.5:40123"],
                ["version": 1, "event": "waiting", "device": device],
                [
                    "version": 1, "event": "joined", "account": .string(Sample.account.hex), "device": device,
                    "devices": 4,
                ],
            ])
    }

    @Test func `an unavailable count is omitted`() throws {
        run.piped = ["12345678"]
        let daemon = Self.daemon()
        let status = try run.run("join") { call in
            if call.member == "GetAccount" { call.crash() } else { daemon(call) }
        }
        #expect(status == .done)
        #expect(run.output.hasSuffix("joined account \(Sample.account.grouped)\n"))
    }

    @Test func `an interrupt or the end of input cancels`() throws {
        run.typing = []
        run.onDiagnostics = { [run] _ in run.interruptSoon() }
        #expect(try run.run("join", answer: Self.daemon()) == .interrupted)
        #expect(run.openPrompts == 0)
        let other = try CommandRun()
        other.typing = [CommandRun.endOfInput]
        #expect(try other.run("join", answer: Self.daemon()) == .interrupted)
        #expect(other.daemon.log.isEmpty)
    }

    @Test func `an interrupt while waiting for the other user cancels`() throws {
        run.piped = ["12345678"]
        run.onOutput = { [run] text in if text.hasPrefix("waiting") { run.interruptSoon() } }
        let status = try run.run("join") { $0.reply(JoinEvent.waiting(Self.desk).json, continues: true) }
        #expect(status == .interrupted)
    }
}
