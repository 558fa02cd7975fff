import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Tests account files that are protected by a passphrase.
@Suite struct PassphraseTests {
    private let run: CommandRun
    private let file: String
    private let secret: String

    init() throws {
        run = try CommandRun()
        file = run.test.folder.file("account")
        secret = run.test.folder.file("secret")
    }

    /// The bytes sent to the daemon after an upgrade.
    private final class Received {
        var bytes: [UInt8] = []
        var requests: [[UInt8]] = []
    }

    private static func exporting(_ received: Received) -> (FakeDaemon.Call) -> Void {
        { call in
            call.upgrade(
                received: { bytes, stream in
                    received.bytes += bytes
                    let length = received.bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                    guard received.bytes.count == 4 + length else { return }
                    stream.write(Array((length == 0 ? clearFile : protectedFile).utf8))
                    stream.finish()
                }, ended: { _ in })
        }
    }

    /// Returns a daemon that accepts a file only with this passphrase.
    private static func importing(_ received: Received, passphrase: String) -> (FakeDaemon.Call) -> Void {
        { call in
            received.bytes = []
            call.upgrade(
                received: { bytes, _ in received.bytes += bytes },
                ended: { stream in
                    received.requests.append(received.bytes)
                    let expected = request(passphrase)
                    let answer =
                        received.bytes.starts(with: expected)
                        ? "{\"account\":\"\(Sample.account.hex)\",\"joined\":true}"
                        : #"{"error":"dev.handoff1.Control.WrongPassphrase","message":"the passphrase is wrong"}"#
                    stream.write(Array(answer.utf8) + [0])
                    stream.finish()
                })
        }
    }

    /// Encodes a passphrase as it is sent.
    private static func request(_ passphrase: String) -> [UInt8] {
        [0, 0, 0, UInt8(passphrase.utf8.count)] + Array(passphrase.utf8)
    }

    private static let checksum = String(repeating: "c", count: 32)

    private static let protectedFile = "hndf-exp\0\u{1}\0\u{1}\0\0\0\u{7}content" + checksum

    private static let clearFile = "hndf-exp\0\u{1}\0\0\0\0\0\u{7}content" + checksum

    private func writeProtectedFile() throws {
        try run.test.folder.write(bytes: Array(Self.protectedFile.utf8), to: "account")
    }

    // MARK: Export

    @Test func `a passphrase is prompted for twice without echo`() throws {
        run.typing = ["correct horse ", "correct horse "]
        let received = Received()
        #expect(try run.run("account", "export", "--passphrase", file, answer: Self.exporting(received)) == .done)
        // The passphrase is sent as typed, including spaces.
        #expect(received.bytes == Self.request("correct horse "))
        #expect(run.prompts == [.secret, .secret])
        #expect(run.test.folder.text(of: "account") == Self.protectedFile)
        #expect(run.diagnostics.contains("and its passphrase can join"))
        #expect(!run.diagnostics.contains("horse"))
    }

    @Test(arguments: [
        (["one", "two"], HandoffCommands.ExitStatus.failed), ([""], .wrongUsage),
        ([CommandRun.endOfInput], .wrongUsage),
    ])
    func `passphrases that differ or are empty are refused`(_ typed: [String], _ expected: HandoffCommands.ExitStatus)
        throws
    {
        run.typing = typed
        #expect(try run.run("account", "export", "--passphrase", file) == expected)
        #expect(run.daemon.log.isEmpty)
        #expect(run.test.folder.mode(of: "account") == nil)
    }

    @Test(arguments: ["from a file\n", "from a file\r\nsecond line\n", "from a file"])
    func `a passphrase can be the first line of a file`(_ content: String) throws {
        try run.test.folder.write(content, to: "secret")
        let received = Received()
        let words = ["account", "export", file, "--passphrase-file", secret]
        #expect(try run.run(words, answer: Self.exporting(received)) == .done)
        #expect(received.bytes == Self.request("from a file"))
        #expect(run.prompts.isEmpty)
    }

    @Test func `a missing or empty file is not a passphrase`() throws {
        #expect(try run.run("account", "export", file, "--passphrase-file", secret) == .failed)
        try run.test.folder.write("\nsecond", to: "secret")
        #expect(try run.run("account", "export", file, "--passphrase-file", secret) == .wrongUsage)
        #expect(run.diagnostics.contains("the passphrase is empty"))
        #expect(run.daemon.log.isEmpty)
        #expect(run.test.folder.mode(of: "account") == nil)
    }

    @Test func `without a passphrase the length is zero`() throws {
        let received = Received()
        #expect(try run.run("account", "export", file, answer: Self.exporting(received)) == .done)
        #expect(received.bytes == [0, 0, 0, 0])
        #expect(run.prompts.isEmpty)
        #expect(run.diagnostics.contains("anyone who has this account file can join"))
    }

    @Test func `a file that the daemon did not protect is discarded`() throws {
        run.typing = ["p", "p"]
        let status = try run.run("account", "export", "--passphrase", file) { call in
            call.upgrade(
                received: { _, stream in
                    stream.write(Array(Self.clearFile.utf8))
                    stream.finish()
                }, ended: { _ in })
        }
        #expect(status == .failed)
        #expect(run.test.folder.mode(of: "account") == nil)
        #expect(run.diagnostics.contains("--revoke TICKET"))
    }

    @Test func `a passphrase that is too long is refused`() throws {
        try run.test.folder.write(String(repeating: "x", count: 1025), to: "secret")
        #expect(try run.run("account", "export", file, "--passphrase-file", secret) == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
    }

    @Test func `an interrupt cancels the prompt and leaves no file`() throws {
        run.typing = []
        run.onDiagnostics = { [run] _ in run.interruptSoon() }
        #expect(try run.run("account", "export", "--passphrase", file) == .interrupted)
        #expect(run.openPrompts == 0)
        #expect(run.test.folder.mode(of: "account") == nil)
    }

    @Test func `an interrupt during an export leaves no file`() throws {
        let status = try run.run("account", "export", file) { [run] call in
            call.upgrade(received: { _, _ in run.interruptSoon() }, ended: { _ in })
        }
        #expect(status == .interrupted)
        #expect(run.test.folder.mode(of: "account") == nil)
    }

    // MARK: Import

    @Test func `the passphrase of a protected file is prompted for up to three times`() throws {
        try writeProtectedFile()
        run.typing = ["one", "two", "three"]
        let received = Received()
        #expect(try run.run("account", "import", file, answer: Self.importing(received, passphrase: "three")) == .done)
        #expect(received.requests == ["one", "two", "three"].map { Self.request($0) + Array(Self.protectedFile.utf8) })
        #expect(run.prompts == [.secret, .secret, .secret])
        #expect(run.diagnostics.contains("handoffctl: the passphrase is wrong\nPassphrase of"))
        #expect(run.output == "joined account \(Sample.account.grouped)\n")
    }

    @Test func `after three wrong passphrases it fails`() throws {
        try writeProtectedFile()
        run.typing = ["one", "two", "three", "four"]
        let received = Received()
        let status = try run.run("account", "import", file, answer: Self.importing(received, passphrase: "four"))
        #expect(status == .failed)
        #expect(received.requests.count == 3)
        #expect(run.diagnostics.hasSuffix("handoffctl: the passphrase is wrong\n"))
    }

    @Test func `a passphrase file is tried once`() throws {
        try writeProtectedFile()
        try run.test.folder.write("wrong\n", to: "secret")
        let received = Received()
        let words = ["account", "import", file, "--passphrase-file", secret]
        #expect(try run.run(words, answer: Self.importing(received, passphrase: "right")) == .failed)
        #expect(received.requests.count == 1)
        #expect(try run.run(words, answer: Self.importing(received, passphrase: "wrong")) == .done)
        #expect(run.prompts.isEmpty)
    }

    @Test func `without a terminal the option is named`() throws {
        try writeProtectedFile()
        #expect(try run.run("account", "import", file) == .wrongUsage)
        #expect(run.diagnostics.contains("--passphrase-file FILE"))
        #expect(!run.diagnostics.contains("Passphrase of"))
        #expect(try run.run("account", "export", "--passphrase", run.test.folder.file("new")) == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
    }

    @Test func `an unprotected file needs no passphrase and accepts none`() throws {
        let content = Self.clearFile
        try run.test.folder.write(bytes: Array(content.utf8), to: "account")
        run.typing = []
        let received = Received()
        #expect(try run.run("account", "import", file, answer: Self.importing(received, passphrase: "")) == .done)
        #expect(received.requests == [[0, 0, 0, 0] + Array(content.utf8)])
        #expect(run.prompts.isEmpty)
        try run.test.folder.write("p\n", to: "secret")
        #expect(try run.run("account", "import", file, "--passphrase-file", secret) == .failed)
        #expect(run.diagnostics.contains("\(file) is not protected by a passphrase"))
        #expect(received.requests.count == 1)
    }

    @Test(arguments: ["", "hndf", "hndf-exp\0\u{1}", "hndf-exp\0\u{1}\0", "hndf-acc\0\u{1}\0\u{1}"])
    func `an invalid account file is left to the daemon`(_ content: String) throws {
        try run.test.folder.write(bytes: Array(content.utf8), to: "account")
        run.typing = []
        let received = Received()
        #expect(try run.run("account", "import", file, answer: Self.importing(received, passphrase: "")) == .done)
        #expect(received.requests.count == 1)
        #expect(run.prompts.isEmpty)
    }
}
