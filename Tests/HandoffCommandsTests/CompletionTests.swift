import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The completions at the cursor.
@Suite struct CompletionQueryTests {
    private func words(_ line: String...) -> [String] { CompletionQuery(line).answer.candidates.map(\.word) }
    private func kind(_ line: String...) -> CompletionAnswer.Kind { CompletionQuery(line).answer.kind }

    @Test func `the first word is a command or a group`() {
        let all = words("")
        #expect(all.contains("status") && all.contains("account") && !all.contains("create"))
        #expect(all.count == Set(all).count)
        #expect(words("acc") == ["account"])
        #expect(words("no-such-thing") == [])
    }

    @Test(arguments: CommandTable.standard.commands.map { $0.specification.name })
    func `every command is completed word by word, then its options`(_ name: String) throws {
        let command = try #require(CommandTable.standard.commands.first { $0.specification.name == name }).specification
        for length in command.words.indices {
            let before = Array(command.words[..<length])
            let answer = CompletionQuery(before + [""]).answer
            let meaning = try #require(answer.candidates.first { $0.word == command.words[length] }).meaning
            if length == command.words.count - 1 { #expect(meaning == command.summary) }
        }
        let offered = CompletionQuery(command.words + ["--"]).answer.candidates.map(\.word)
        #expect(Set(offered) == Set((command.options + OptionSpecification.global).map(\.name)))
    }

    @Test func `an option that was given is not offered again unless it may be repeated`() {
        #expect(!words("list", "--here", "--").contains("--here"))
        #expect(words("publish", "com.example.a", "--required", "page", "--r") == ["--required", "--read-only"])
    }

    @Test func `words before the cursor are parsed as in the final command`() {
        #expect(words("--json", "--socket", "account", "st") == ["status", "stream"])
        #expect(CompletionQuery(["--socket", "/tmp/a", "st"]).socket == "/tmp/a")
        #expect(CompletionQuery(["--socket=/tmp/a", "st"]).socket == "/tmp/a")
        #expect(words("account", "no-such-word", "") == [])
        #expect(words("list", "--no-such-option", "--") == [])
        #expect(words("handle", "com.example.a", "--", "--t") == [])
    }

    @Test func `file names are left to the shell`() {
        #expect(kind("account", "export", "") == .files(after: ""))
        #expect(kind("continue", "--output", "Do") == .files(after: ""))
        #expect(kind("continue", "--output=Do") == .files(after: "--output="))
        #expect(kind("send", "laptop", "rep") == .files(after: ""))
        #expect(kind("publish", "rep") == .files(after: ""))
        #expect(kind("publish", "com.example.a", "--user-info", "@pay") == .files(after: "@"))
        #expect(kind("publish", "com.example.a", "--user-info=@pay") == .files(after: "--user-info=@"))
        #expect(kind("publish", "com.example.a", "--user-info", "{") == .words)
    }

    @Test func `candidates known only to the daemon are requested`() {
        #expect(kind("continue", "3f") == .asked(.activity, before: "", begun: "3f"))
        #expect(kind("open", "3f") == .asked(.activity, before: "", begun: "3f"))
        #expect(kind("continue", "--from=La") == .asked(.otherDevice, before: "--from=", begun: "La"))
        #expect(kind("device", "rename", "") == .asked(.device, before: "", begun: ""))
        #expect(kind("device", "rename", "laptop", "") == .words)
        #expect(kind("handle", "com.example.a", "") == .asked(.type, before: "", begun: ""))
        #expect(kind("account", "export", "--revoke", "") == .asked(.ticket, before: "", begun: ""))
        #expect(kind("app", "disable", "org") == .asked(.app, before: "", begun: "org"))
        #expect(kind("status", "") == .words)
    }

    @Test func `literal operands are offered`() {
        #expect(words("completion", "") == ["bash", "zsh", "fish"])
        #expect(words("completion", "z") == ["zsh"])
        #expect(words("help", "pub") == ["publish"])
        #expect(words("advertise", "o") == ["on", "off"])
    }

    @Test func `the reply has a line for each candidate except those with control characters`() {
        let answer = CompletionAnswer(
            .words, [.init("a b", "one"), .init("c\nd", "two"), .init("\u{1b}[2J"), .init("e")])
        #expect(answer.text == "words\na b\tone\ne\t\n")
        #expect(CompletionAnswer(.files(after: "@")).text == "files @\n")
    }
}

/// The command that the shell scripts run.
@Suite struct CompletionCommandTests {
    @Test func `a script is printed for each shell`() throws {
        for script in CompletionScript.allCases {
            let run = try CommandRun()
            #expect(try run.run("completion", script.rawValue) == .done)
            #expect(run.output == script.text)
            #expect(run.output.contains("handoffctl completion words -- "))
        }
    }

    @Test func `an unknown shell is a usage error`() throws {
        let run = try CommandRun()
        #expect(try run.run("completion", "csh") == .wrongUsage)
        #expect(run.diagnostics.contains("bash, zsh or fish"))
        #expect(try CommandRun().run("completion", "bash", "zsh") == .wrongUsage)
    }

    @Test func `without a daemon nothing is completed and nothing is reported`() throws {
        let run = try CommandRun()
        #expect(try run.run("completion", "words", "--", "--socket", "/no/such/socket", "continue", "") == .done)
        #expect(run.output == "words\n")
        #expect(run.diagnostics == "")
    }

    @Test func `a refusal by the daemon is not reported`() throws {
        let run = try CommandRun()
        let status = try run.run("completion", "words", "--", "continue", "") { call in
            call.fail("dev.handoff1.Control.NoAccount")
        }
        #expect(status == .done)
        #expect(run.output == "words\n")
        #expect(run.diagnostics == "")
    }

    @Test(arguments: [
        ["send", ""], ["why", ""], ["device", "remove", ""], ["device", "remove", "Desk", "--drop", ""],
        ["publish", "com.example.a", "--to", ""], ["continue", "--from", ""], ["pause", "--device", ""],
    ])
    func `this device is not offered where another device is required`(_ line: [String]) throws {
        let run = try CommandRun()
        let devices = [
            ControlDevice(id: Sample.device(0x3F), name: "Desk", kind: .desktop, isSelf: true, online: true),
            ControlDevice(id: Sample.device(0x1A), name: "laptop", kind: .laptop, isSelf: false, online: true),
        ]
        let status = try run.run(["completion", "words", "--"] + line) { call in
            call.reply(["devices": .array(devices.map { .object($0.json) })])
        }
        #expect(status == .done)
        #expect(run.output == "words\nlaptop\t1a1a1a1, online\n")
    }

    @Test func `devices are offered by name if the name is unambiguous`() throws {
        let devices = [
            ControlDevice(id: Sample.device(0x3F), name: "Desk", kind: .desktop, isSelf: true, online: true),
            ControlDevice(id: Sample.device(0x1A), name: "Old laptop", kind: .laptop, isSelf: false, online: true),
            ControlDevice(id: Sample.device(0x2B), name: "OLD LAPTOP", kind: .laptop, isSelf: false, online: false),
            ControlDevice(id: Sample.device(0x4C), name: "tab\tlet", kind: .phone, isSelf: false, online: false),
            ControlDevice(id: Sample.device(0x5D), name: "--yes", kind: .phone, isSelf: false, online: false),
            ControlDevice(id: Sample.device(0x6E), name: "$(reboot)", kind: .phone, isSelf: false, online: false),
        ]
        let run = try CommandRun()
        let status = try run.run("completion", "words", "--", "device", "rename", "") { call in
            call.reply(["devices": .array(devices.map { .object($0.json) })])
        }
        #expect(status == .done)
        #expect(
            run.output == """
                words
                Desk\t3f3f3f3, this device
                1a1a1a1\tOld laptop, online
                2b2b2b2\tOLD LAPTOP, offline
                4c4c4c4\ttab\\u{9}let, offline
                5d5d5d5\t--yes, offline
                $(reboot)\t6e6e6e6, offline

                """)
    }

    @Test func `activities are offered by their ids and types once`() throws {
        let type = try #require(ActivityType("com.example.editing"))
        let offers = [
            Sample.offer(0xA1, type: type, title: "Letter", age: 3),
            Sample.offer(0xB2, type: type, title: "Draft\u{1B}[2J", deviceName: "phone", age: 150),
        ]
        let daemon: (FakeDaemon.Call) -> Void = { call in
            call.reply(["activities": .array(offers.map { .object($0.json) })])
        }
        let first = try CommandRun()
        #expect(try first.run(["completion", "words", "--", "continue", "b2"], answer: daemon) == .done)
        #expect(first.output == "words\nb2b2b2b\t\u{201C}Draft\\u{1B}[2J\u{201D} on phone\n")
        let second = try CommandRun()
        #expect(try second.run(["completion", "words", "--", "continue", "--type=com"], answer: daemon) == .done)
        #expect(second.output == "words\n--type=com.example.editing\t\n")
    }
}
