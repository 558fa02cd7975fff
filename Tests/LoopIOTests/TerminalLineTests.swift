import Glibc
import LoopIO
import Testing

/// Uses a pseudoterminal. The test acts as the user who types.
@Suite struct TerminalLineTests {
    /// Both ends of a pseudoterminal.
    private final class Terminal {
        let person: Int32
        let program: Int32

        init() throws {
            // pts(4). Swift imports neither unlockpt(3) and ptsname(3) nor these requests.
            let unlock: UInt = 0x4004_5431
            let getNumber: UInt = 0x8004_5430
            person = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var zero: Int32 = 0
            var number: Int32 = -1
            _ = ioctl(person, unlock, &zero)
            _ = ioctl(person, getNumber, &number)
            program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
            try #require(program >= 0)
        }

        deinit {
            close(person)
            close(program)
        }

        func type(_ text: String) {
            let bytes = Array(text.utf8)
            #expect(write(person, bytes, bytes.count) == bytes.count)
        }

        /// Types a line, and waits until it can be read: the kernel passes it on in another thread.
        func typeAhead(_ line: String) {
            type(line)
            #expect(hasInput(program))
        }

        var settings: termios {
            var settings = termios()
            #expect(tcgetattr(program, &settings) == 0)
            return settings
        }

        var hasEcho: Bool { settings.c_lflag & tcflag_t(ECHO) != 0 }

        /// The text that the user sees, up to the end of a line. The kernel echoes asynchronously.
        var screen: String {
            var seen: [UInt8] = []
            while seen.last != UInt8(ascii: "\n"), hasInput(person) {
                var bytes = [UInt8](repeating: 0, count: 4096)
                let count = read(person, &bytes, bytes.count)
                seen += bytes.prefix(max(0, count))
            }
            return String(decoding: seen, as: UTF8.self)
        }
    }

    private let loop: EventLoop
    private let terminal: Terminal

    init() throws {
        loop = try EventLoop()
        terminal = try Terminal()
    }

    /// Reads one line. Types it after the reader has started to wait.
    private func line(_ form: TerminalLine.Form, typing text: String) throws -> Result<[UInt8]?, Errno>? {
        var result: Result<[UInt8]?, Errno>?
        let line = try TerminalLine(.descriptor(terminal.program), form, on: loop) {
            result = $0
            loop.stop()
        }
        terminal.type(text)
        try loop.runUntilStopped()
        withExtendedLifetime(line) {}
        return result
    }

    @Test(arguments: [
        ("12345678\n", "12345678"), ("a\u{7F}b\n", "b"), ("\n", ""), ("first\nsecond\n", "first"),
        ("half\u{4}\u{4}", "half"),
    ])
    func `a line is what was typed up to its end`(_ typed: String, _ expected: String) throws {
        #expect(try line(.text, typing: typed) == .success(Array(expected.utf8)))
    }

    @Test func `the end of input is not a line`() throws {
        #expect(try line(.text, typing: "\u{4}") == .success(nil))
    }

    @Test func `a secret is not shown and the echo is restored`() throws {
        #expect(terminal.hasEcho)
        let before = terminal.settings
        var wasHidden = false
        var result: Result<[UInt8]?, Errno>?
        let line = try TerminalLine(.descriptor(terminal.program), .secret, on: loop) {
            result = $0
            loop.stop()
        }
        wasHidden = !terminal.hasEcho
        terminal.type("hush\n")
        try loop.runUntilStopped()
        #expect(wasHidden)
        #expect(result == .success(Array("hush".utf8)))
        #expect(terminal.screen == "\r\n")
        #expect(terminal.settings.c_lflag == before.c_lflag)
        #expect(terminal.settings.c_cc.8 == before.c_cc.8)
        withExtendedLifetime(line) {}
    }

    @Test func `cancelling a secret restores the echo`() throws {
        var line: TerminalLine? = try TerminalLine(.descriptor(terminal.program), .secret, on: loop) { _ in
            Issue.record("it was cancelled")
        }
        #expect(!terminal.hasEcho)
        line?.cancel()
        #expect(terminal.hasEcho)
        line = try TerminalLine(.descriptor(terminal.program), .secret, on: loop) { _ in }
        #expect(!terminal.hasEcho)
        line = nil
        #expect(terminal.hasEcho)
        #expect(line == nil)
    }

    @Test func `the keys that stop a program do nothing while the echo is off`() throws {
        let line = try TerminalLine(.descriptor(terminal.program), .secret, on: loop) { _ in }
        let keys = withUnsafeBytes(of: terminal.settings.c_cc) { Array($0) }
        #expect(keys[Int(VSUSP)] == 0)
        #expect(keys[Int(VQUIT)] == 0)
        #expect(keys[Int(VINTR)] == 3)
        line.cancel()
    }

    @Test func `input that was typed ahead is not an answer`() throws {
        terminal.typeAhead("y\n")
        #expect(try line(.answer, typing: "n\n") == .success(Array("n".utf8)))
        terminal.typeAhead("typed ahead\n")
        #expect(try line(.secret, typing: "secret\n") == .success(Array("secret".utf8)))
        terminal.type("ahead\n")
        #expect(try line(.text, typing: "") == .success(Array("ahead".utf8)))
    }

    @Test func `the terminal is not made non blocking`() throws {
        _ = try line(.text, typing: "a\n")
        #expect(fcntl(terminal.program, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test func `a file is not a terminal`() throws {
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        #expect(throws: Errno.self) { try TerminalLine(.descriptor(null), .secret, on: loop) { _ in } }
    }
}
