import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct PairCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static let link = "handoff:pair/1/mfrggzdfmztwq2lknnwg23tpoa/192.168.1.5:40123"
    private static let laptop = PairingDevice(id: Sample.device(0x1A), name: "Laptop\u{202E}")

    private static func window(code: String? = "12345678") -> PairEvent {
        .opened(
            PairingWindowDescription(
                code: code, link: link, addresses: ["192.168.1.5:40123", "[fe80::1%eth0]:40123"], seconds: 180))
    }

    /// Returns a daemon that sends the events `before`, then `after` once the last one was
    /// answered.
    private static func daemon(
        _ before: [PairEvent], answered after: @escaping (Bool, FakeDaemon.Call) -> Void = { _, _ in }
    ) -> (FakeDaemon.Call) -> Void {
        var window: FakeDaemon.Call?
        return { call in
            if call.member == "AnswerPairing" {
                call.reply()
                if let window { after(call.parameters["accept"]?.bool == true, window) }
                return
            }
            window = call
            for event in before {
                if case .joined = event { call.reply(event.json) } else { call.reply(event.json, continues: true) }
            }
        }
    }

    private static func letIn(_ accepts: Bool, _ call: FakeDaemon.Call) {
        if accepts {
            call.reply(PairEvent.joining(laptop).json, continues: true)
            call.reply(PairEvent.joined(laptop).json)
        } else {
            fail(call, "declined", "you said no")
        }
    }

    private static func fail(_ call: FakeDaemon.Call, _ reason: String, _ message: String) {
        call.fail(
            ControlErrorName.pairingFailed.rawValue, ["reason": .string(reason), "message": .string(message)])
    }

    @Test func `the window is shown and a device that knows the code is admitted after a question`() throws {
        run.typing = ["y"]
        let status = try run.run(
            "pair", answer: Self.daemon([Self.window(), .confirm(Self.laptop)], answered: Self.letIn))
        #expect(status == .done)
        #expect(
            run.output == """
                code     1234 5678
                address  192.168.1.5:40123
                         [fe80::1%eth0]:40123
                admitting   Laptop\\u{202E} (1a1a1a1)
                joined      Laptop\\u{202E} (1a1a1a1) is now in the account

                """)
        #expect(run.diagnostics.contains("Admit Laptop\\u{202E} (1a1a1a1) to this account? [y/N] "))
        #expect(run.prompts == [.answer])
        #expect(run.daemon.log.first?.more == true)
        #expect(run.daemon.parameters(of: "Pair") == [:])
        let answer: JSONObject = ["device": .string(Self.laptop.id.hex), "accept": true]
        #expect(run.daemon.parameters(of: "AnswerPairing") == answer)
    }

    @Test(arguments: ["n", "", "j", "yess", CommandRun.endOfInput])
    func `everything but yes is no`(_ typed: String) throws {
        run.typing = [typed]
        let status = try run.run(
            "pair", answer: Self.daemon([Self.window(), .confirm(Self.laptop)], answered: Self.letIn))
        #expect(status == .failed)
        #expect(run.daemon.parameters(of: "AnswerPairing")?["accept"] == false)
        #expect(run.diagnostics.contains("handoffctl: you said no\n"))
    }

    @Test func `with yes no question is asked`() throws {
        let status = try run.run("pair", "--yes", answer: Self.daemon([Self.window(), .joined(Self.laptop)]))
        #expect(status == .done)
        #expect(run.prompts.isEmpty)
        #expect(run.daemon.parameters(of: "Pair") == ["automatic": true])
        #expect(run.daemon.methods == ["Pair"])
    }

    @Test func `without a terminal and without yes no window is opened`() throws {
        #expect(try run.run("pair") == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
        #expect(run.diagnostics.contains("with --yes"))
    }

    @Test func `wrong guesses are reported`() throws {
        let events: [PairEvent] = [
            Self.window(), .wrongCode(guessesLeft: 2), .wrongCode(guessesLeft: 1), .codeEnded, .joined(Self.laptop),
        ]
        #expect(try run.run("pair", "--yes", answer: Self.daemon(events)) == .done)
        #expect(run.output.contains("wrong code  2 guesses left\nwrong code  1 guess left\ncode ended  "))
    }

    @Test func `a question about a disconnected device is withdrawn and the next one is asked`() throws {
        run.typing = []
        let desk = PairingDevice(id: Sample.device(0x3F), name: "Desk")
        run.onOutput = { [run] text in
            guard text.hasPrefix("gone") else { return }
            #expect(run.openPrompts == 0)
            run.typing = ["yes"]
        }
        let status = try run.run(
            "pair",
            answer: Self.daemon([Self.window(), .confirm(Self.laptop), .gone(Self.laptop), .confirm(desk)]) { _, call in
                call.reply(PairEvent.joined(desk).json)
            })
        #expect(status == .done)
        #expect(run.output.contains("gone        Laptop\\u{202E} (1a1a1a1) disconnected before it was admitted\n"))
        #expect(run.daemon.parameters(of: "AnswerPairing")?["device"] == .string(desk.id.hex))
    }

    @Test func `a late answer is not a failure`() throws {
        run.typing = ["y"]
        var window: FakeDaemon.Call?
        let status = try run.run("pair") { call in
            guard call.member == "AnswerPairing" else {
                window = call
                call.reply(Self.window().json, continues: true)
                return call.reply(PairEvent.confirm(Self.laptop).json, continues: true)
            }
            call.fail(ControlErrorName.noSuchDevice.rawValue, ["message": "it went away"])
            window?.reply(PairEvent.gone(Self.laptop).json, continues: true)
            window?.reply(PairEvent.joined(Self.laptop).json)
        }
        #expect(status == .done)
        #expect(run.diagnostics.contains("too late: it went away"))
    }

    @Test func `an interrupt closes the window and the question`() throws {
        run.typing = []
        run.onDiagnostics = { [run] text in if text.contains("[y/N]") { run.interruptSoon() } }
        #expect(try run.run("pair", answer: Self.daemon([Self.window(), .confirm(Self.laptop)])) == .interrupted)
        #expect(run.openPrompts == 0)
        #expect(run.daemon.methods == ["Pair"])
    }

    @Test func `the end of the window is a failure with advice`() throws {
        let status = try run.run("pair", "--yes") { call in
            call.reply(Self.window().json, continues: true)
            Self.fail(call, "windowClosed", "the three minutes are over")
        }
        #expect(status == .failed)
        #expect(
            run.diagnostics.hasSuffix(
                "handoffctl: the three minutes are over\n  open a new window with: handoffctl pair\n"))
    }

    @Test func `events that end too early are not a success`() throws {
        #expect(try run.run("pair", "--yes") { $0.reply(Self.window().json) } == .failed)
        #expect(try run.run("pair", "--yes") { $0.crash() } == .daemonNotReachable)
    }

    @Test func `every event is an object and the first has code and link`() throws {
        run.typing = ["y"]
        let events = [Self.window(), .wrongCode(guessesLeft: 4), .codeEnded, .confirm(Self.laptop)]
        let status = try run.run("--json", "pair", answer: Self.daemon(events, answered: Self.letIn))
        #expect(status == .done)
        let device: JSON = ["id": .string(Self.laptop.id.hex), "name": .string(Self.laptop.name)]
        #expect(
            run.objects == [
                [
                    "version": 1, "event": "opened", "code": "12345678", "link": .string(Self.link),
                    "addresses": ["192.168.1.5:40123", "[fe80::1%eth0]:40123"], "seconds": 180,
                ],
                ["version": 1, "event": "wrongCode", "guessesLeft": 4], ["version": 1, "event": "codeEnded"],
                ["version": 1, "event": "confirm", "device": device],
                ["version": 1, "event": "joining", "device": device],
                ["version": 1, "event": "joined", "device": device],
            ])
    }

    @Test(.timeLimit(.minutes(5)))
    func `the window is closed after the timeout`() throws {
        let clock = ManualClock()
        let run = try CommandRun(clock: clock)
        run.onDiagnostics = { text in
            if text.contains("waiting for 20 s") { run.afterReplies { clock.advance(by: .seconds(20)) } }
        }
        let status = try run.run("pair", "--yes", "--timeout", "20", answer: Self.daemon([Self.window()]))
        #expect(status == .failed)
        #expect(run.diagnostics.contains("waiting for 20 s"), "it waits as long as requested")
        #expect(run.diagnostics.contains("no device joined in time"))
    }

    // MARK: The link

    @Test func `the link is never written to a file or a pipe`() throws {
        for words in [["pair", "--yes"], ["pair", "--yes", "--qr"]] {
            let run = try CommandRun()
            run.graphicColumns = 100
            #expect(try run.run(words, answer: Self.daemon([Self.window(), .joined(Self.laptop)])) == .done)
            #expect(!run.output.contains("handoff:"))
            #expect(!run.output.contains("█"))
            #expect(!run.diagnostics.contains("handoff:"))
        }
    }

    @Test func `a terminal gets a QR code instead of the text if requested`() throws {
        run.graphicColumns = 100
        let answer = Self.daemon([Self.window(), .joined(Self.laptop)])
        #expect(try run.run("pair", "--yes", "--qr", onTerminal: true, answer: answer) == .done)
        #expect(run.output.hasPrefix("\u{1B}[38;5;231;48;5;16m█"))
        #expect(run.output.contains("\ncode     1234 5678\n"))
        #expect(!run.output.contains("handoff:"))
    }

    @Test(arguments: [(100, []), (20, ["--qr"]), (nil, ["--qr"])] as [(Int?, [String])])
    func `a terminal without a code gets the text`(_ columns: Int?, _ words: [String]) throws {
        run.graphicColumns = columns
        let answer = Self.daemon([Self.window(), .joined(Self.laptop)])
        #expect(try run.run(["pair", "--yes"] + words, onTerminal: true, answer: answer) == .done)
        #expect(run.output.contains("\nlink     \(Self.link)\n"))
        #expect(!run.output.contains("█"))
    }

    @Test func `without digits only the link is shown, or it fails`() throws {
        let answer = Self.daemon([Self.window(code: nil), .joined(Self.laptop)])
        #expect(try run.run("pair", "--yes", onTerminal: true, answer: answer) == .done)
        #expect(run.output.contains("link     handoff:"))
        #expect(!run.output.contains("code  "))
        let piped = try CommandRun()
        #expect(try piped.run("pair", "--yes", answer: Self.daemon([Self.window(code: nil)])) == .failed)
        #expect(piped.diagnostics.contains("on a terminal"))
        let json = try CommandRun()
        let objects = Self.daemon([Self.window(code: nil), .joined(Self.laptop)])
        #expect(try json.run("pair", "--yes", "--json", answer: objects) == .done)
        #expect(json.objects.first?["code"] == JSON.null)
        #expect(json.objects.first?["link"] == .string(Self.link))
    }

    // MARK: Countdown

    @Test(.timeLimit(.minutes(5)))
    func `the time is counted down on a terminal`() throws {
        let clock = ManualClock()
        let run = try CommandRun(clock: clock)
        run.graphicColumns = 100
        var shown: [String] = []
        run.onDiagnostics = { text in
            guard let left = text.split(separator: " left;").first, text.contains(" left;") else { return }
            shown.append(String(left.drop { !$0.isNumber }))
            if shown.count == 4 { run.interruptSoon() }
            run.later { clock.advance(by: .seconds(1)) }
        }
        #expect(try run.run("pair", "--yes", onTerminal: true, answer: Self.daemon([Self.window()])) == .interrupted)
        #expect(Array(shown.prefix(4)) == ["3:00", "2:59", "2:58", "2:57"])
        // The countdown is cleared at the end.
        #expect(run.diagnostics.hasSuffix("\r\u{1B}[K"))
    }
}
