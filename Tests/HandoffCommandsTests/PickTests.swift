import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffCommands

/// Tests picking one of several offers, with plain values and at a terminal.
@Suite struct PickTests {
    private static func press(_ keys: [TerminalKey], of count: Int) -> (PickList, PickList.Outcome) {
        var list = PickList(count: count)
        var outcome = PickList.Outcome.none
        for key in keys { outcome = list.press(key) }
        return (list, outcome)
    }

    @Test func `arrows move and enter picks`() {
        #expect(Self.press([.down, .down, .up, .enter], of: 3).1 == .picked(1))
        #expect(Self.press([.end, .enter], of: 12).1 == .picked(11))
        #expect(Self.press([.end, .home, .enter], of: 12).1 == .picked(0))
        #expect(Self.press([.up], of: 3).1 == .none, "there is nothing above the first")
        #expect(Self.press([.down, .down, .down], of: 3).1 == .none)
        #expect(Self.press([.down, .leave], of: 3).1 == .left)
    }

    @Test func `a number picks a line once it is unambiguous`() {
        #expect(Self.press([.digit(2)], of: 9).1 == .picked(1))
        #expect(Self.press([.digit(1)], of: 12).1 == .none, "the first is selected already; it may become 10, 11 or 12")
        #expect(Self.press([.digit(1), .digit(2)], of: 12).1 == .picked(11))
        #expect(Self.press([.digit(1), .enter], of: 12).1 == .picked(0))
        #expect(Self.press([.digit(1), .digit(5)], of: 12).1 == .picked(4), "there is no 15")
        #expect(Self.press([.digit(0)], of: 5).1 == .none)
        #expect(Self.press([.digit(7)], of: 5).1 == .none)
        #expect(Self.press([.digit(1), .down, .digit(2)], of: 12).1 == .picked(1), "an arrow ends a number")
    }

    @Test func `a long list shows the lines around the selected one`() {
        #expect(Self.press([], of: 12).0.visible == 0..<9)
        #expect(Self.press(Array(repeating: .down, count: 9), of: 12).0.visible == 1..<10)
        #expect(Self.press([.end], of: 12).0.visible == 3..<12)
        #expect(Self.press([.end, .home], of: 12).0.visible == 0..<9)
        #expect(Self.press([.end], of: 3).0.visible == 0..<3)
    }

    private static func offer(_ number: Int, _ title: String?, device: String = "desk") throws -> OfferedActivity {
        OfferedActivity(
            id: ActivityID(checked: [UInt8](repeating: UInt8(number), count: ActivityID.byteCount)),
            type: try #require(ActivityType("com.example.editing")), title: title, team: nil,
            device: DeviceID(checked: [UInt8](repeating: 9, count: DeviceID.byteCount)), deviceName: device,
            deviceKind: .desktop, streams: false, hasWebpageURL: false, age: 60,
            opens: ControlOpens(kind: .app, name: "Editor"))
    }

    /// Presses these keys at a terminal. Returns the requests to continue.
    private static func pick(
        _ offers: [OfferedActivity], _ words: [String], keys: [TerminalKey], columns: Int? = 80
    ) throws -> (status: HandoffCommands.ExitStatus, asked: [JSONObject], run: CommandRun) {
        let run = try CommandRun()
        run.typing = []
        run.pressing = keys
        run.graphicColumns = columns
        var asked: [JSONObject] = []
        let status = try run.run(words, onTerminal: true) { call in
            switch call.method {
            case "dev.handoff1.Control.ListActivities":
                call.reply(["activities": .array(offers.map { .object($0.json) })])
            case "dev.handoff1.Control.Continue":
                asked.append(call.parameters)
                call.reply(["event": "continued", "type": "com.example.editing"])
            default: call.fail("dev.handoff1.Control.NothingToContinue", ["message": "nothing"])
            }
        }
        return (status, asked, run)
    }

    @Test(arguments: ["continue", "open"])
    func `one of several offers is picked`(_ word: String) throws {
        let offers = try [Self.offer(1, "First"), Self.offer(2, "Second"), Self.offer(3, nil)]
        let (status, asked, run) = try Self.pick(offers, [word], keys: [.down, .enter])
        #expect(status == .done)
        #expect(asked.map { $0["activity"] } == [.string(offers[1].id.hex)])
        #expect(asked.map { $0["from"] } == [.string(offers[1].device.hex)])
        #expect(run.diagnostics.contains("> 2"))
        #expect(run.diagnostics.hasSuffix("\u{1B}[J"), "the list is erased")
        #expect(run.openPrompts == 0, "the terminal is released")
    }

    @Test func `leaving the list continues nothing`() throws {
        let (status, asked, run) = try Self.pick(
            [try Self.offer(1, "First"), try Self.offer(2, "Second")], ["continue"], keys: [.leave])
        #expect(status == .interrupted)
        #expect(asked.isEmpty)
        #expect(run.openPrompts == 0)
    }

    @Test(arguments: [["continue", "--latest"], ["continue", "01010101"], ["continue", "--json"]])
    func `an explicit choice is not prompted for`(_ words: [String]) throws {
        let (status, asked, _) = try Self.pick(
            [try Self.offer(1, "First"), try Self.offer(2, "Second")], words, keys: [])
        #expect(status == .done)
        #expect(asked.count == 1)
    }

    @Test func `only matching offers are shown, and a single match is not prompted for`() throws {
        let offers = try [Self.offer(1, "First"), Self.offer(2, "Second", device: "laptop")]
        let (status, asked, run) = try Self.pick(offers, ["continue", "--from", "laptop"], keys: [])
        #expect(status == .done)
        #expect(asked.map { $0["from"] } == ["laptop"], "the daemon decides")
        #expect(!run.diagnostics.contains("Continue which"))
    }

    @Test func `text from another device moves no cursor and takes one line`() throws {
        let hostile = "\u{1B}[2J\n" + String(repeating: "wide ", count: 200)
        let (_, _, run) = try Self.pick(
            [try Self.offer(1, hostile), try Self.offer(2, "Second", device: "\u{1B}[1A")], ["continue"],
            keys: [.leave],
            columns: 40)
        let sequences = run.diagnostics.split(separator: "\u{1B}").dropFirst().map { String($0.prefix(4)) }
        #expect(sequences.allSatisfy { $0.hasPrefix("[J") || $0.hasSuffix("A") }, "\(sequences)")
        #expect(run.diagnostics.split(separator: "\n").allSatisfy { $0.count < 70 })
    }

    @Test func `terminal keys are parsed`() {
        #expect(TerminalKey.parse(Array("\u{1B}[A\u{1B}OB\r".utf8)) == [.up, .down, .enter])
        #expect(TerminalKey.parse(Array("\u{1B}[1~\u{1B}[4~\u{1B}[H\u{1B}[F".utf8)) == [.home, .end, .home, .end])
        #expect(TerminalKey.parse(Array("\u{1B}[1;5A7qj k".utf8)) == [.up, .digit(7), .leave, .down, .up])
        #expect(TerminalKey.parse([0x1B]) == [.leave])
        #expect(TerminalKey.parse([0x04]) == [.leave])
        #expect(TerminalKey.parse(Array("\u{1B}[".utf8)).isEmpty, "cut in the middle")
        #expect(TerminalKey.parse(Array("\u{1B}[200~äöü\u{FF}".utf8)).isEmpty)
    }
}
