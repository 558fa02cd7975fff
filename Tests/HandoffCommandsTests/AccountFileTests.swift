import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct AccountFileTests {
    private let run: CommandRun
    private let file: String

    init() throws {
        run = try CommandRun()
        file = run.test.folder.file("account")
    }

    /// Returns a daemon that exports these bytes after it has received the length of a passphrase.
    private static func exporting(_ bytes: [UInt8]) -> (FakeDaemon.Call) -> Void {
        { call in
            call.upgrade(
                received: { _, stream in
                    stream.write(bytes)
                    stream.finish()
                }, ended: { _ in })
        }
    }

    @Test func `an export creates a new file that only the user can read`() throws {
        #expect(try run.run("account", "export", file, answer: Self.exporting(Array(Sample.accountFile.utf8))) == .done)
        #expect(run.test.folder.text(of: "account") == Sample.accountFile)
        #expect(run.test.folder.mode(of: "account") == 0o600)
        #expect(run.output == "exported to \(file)\n")
        #expect(run.diagnostics.contains("can be used only once, within 24 hours"))
    }

    @Test func `an existing file is refused before any request`() throws {
        try run.test.folder.write("mine", to: "account")
        #expect(try run.run("account", "export", file, answer: Self.exporting([1])) == .failed)
        #expect(run.test.folder.text(of: "account") == "mine")
        #expect(run.daemon.log.isEmpty)
        #expect(run.diagnostics.contains("cannot create \(file): file exists"))
    }

    @Test func `a secret is never shown on a terminal`() throws {
        #expect(try run.run("account", "export", "-", onTerminal: true, answer: Self.exporting([1])) == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
        #expect(run.output.isEmpty)
    }

    @Test func `an export that fails leaves no file`() throws {
        let refused = try run.run("account", "export", file) { $0.fail("dev.handoff1.Control.NoAccount") }
        #expect(refused == .failed)
        #expect(run.test.folder.mode(of: "account") == nil)
        #expect(try run.run("account", "export", file, answer: Self.exporting([])) == .failed)
        #expect(run.test.folder.mode(of: "account") == nil)
        run.daemon.stop()
        #expect(try run.run("account", "export", file) == .daemonNotReachable)
        #expect(run.test.folder.mode(of: "account") == nil)
    }

    @Test func `an incomplete file is not accepted as an export`() throws {
        for part in [1, 12, 47, 49] {
            let torn = Array(Sample.accountFile.utf8.prefix(part))
            #expect(try run.run("account", "export", file, answer: Self.exporting(torn)) == .failed)
            #expect(run.test.folder.mode(of: "account") == nil)
        }
        #expect(run.diagnostics.contains("an incomplete account file"))
    }

    @Test func `an import sends the file and shows the account`() throws {
        try run.test.folder.write("secret", to: "account")
        var sent: [UInt8] = []
        let status = try run.run("account", "import", file, "--json") { call in
            call.upgrade(
                received: { bytes, _ in sent += bytes },
                ended: { stream in
                    stream.write(Array("{\"account\":\"\(Sample.account.hex)\",\"joined\":true}\0".utf8))
                    stream.finish()
                })
        }
        #expect(status == .done)
        #expect(sent == [0, 0, 0, 0] + Array("secret".utf8))
        #expect(run.objects == [["version": 1, "account": .string(Sample.account.hex), "joined": true]])
    }

    @Test func `an import that no member has confirmed is not reported as joined`() throws {
        try run.test.folder.write("secret", to: "account")
        let status = try run.run("account", "import", file) { call in
            call.upgrade(
                received: { _, _ in },
                ended: { stream in
                    let answer = #"{"account":"\#(Sample.account.hex)","joined":false,"missing":"nobody is on"}"#
                    stream.write(Array(answer.utf8) + [0])
                    stream.finish()
                })
        }
        #expect(status == .failed)
        #expect(run.output.isEmpty)
        #expect(run.diagnostics.contains("not joined yet: nobody is on"))
    }

    @Test func `a refused import is a failure with its name`() throws {
        try run.test.folder.write("secret", to: "account")
        let status = try run.run("account", "import", file, "--json") { call in
            call.upgrade(
                received: { _, _ in },
                ended: { stream in
                    let answer = #"{"error":"dev.handoff1.Control.InvalidAccountFile","message":"it was used"}"#
                    stream.write(Array(answer.utf8) + [0])
                    stream.finish()
                })
        }
        #expect(status == .failed)
        #expect(run.errorObjects.last == ["version": 1, "error": "InvalidAccountFile", "message": "it was used"])
    }

    @Test func `a missing file fails before any request`() throws {
        #expect(try run.run("account", "import", file) == .failed)
        #expect(run.daemon.log.isEmpty)
        #expect(run.diagnostics.contains("cannot read \(file): no such file or directory"))
    }
}
