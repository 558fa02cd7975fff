import Glibc
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffCommands

/// Tests the relays of shared terminals, with sockets in place of the terminals.
@Suite(.timeLimit(.minutes(5))) struct TerminalRelayTests {
    private let loop: EventLoop

    init() throws {
        loop = try EventLoop(isDirect: true)
    }

    private func frame(_ kind: Character, _ text: String) -> [UInt8] {
        TerminalFrame(kind: kind.asciiValue ?? 0, content: Array(text.utf8)).bytes
    }

    /// A side of a relay that a test reads and writes.
    private final class Side {
        let stream: ByteStream
        var text = ""

        init(_ descriptor: consuming Descriptor, on loop: EventLoop) throws(Errno) {
            stream = try ByteStream(descriptor, on: loop)
            stream.onRead = { [unowned self] in text += String(decoding: $0, as: UTF8.self) }
        }
    }

    private func end(of bytes: [[UInt8]], isReadOnly: Bool = false) throws -> (reason: String?, typed: String) {
        let streams = try Descriptor.socketPair()
        let terminals = try Descriptor.socketPair()
        let remote = try Side(streams.second, on: loop)
        let terminal = try Side(terminals.second, on: loop)
        var reason: String?
        let relay = HostRelay(
            try ByteStream(streams.first, on: loop), try ByteStream(terminals.first, on: loop), isReadOnly: isReadOnly
        ) { reason = $0 }
        for each in bytes {
            remote.stream.write(each)
            try loop.runTurns(10)
        }
        withExtendedLifetime(relay) {}
        return (reason, terminal.text)
    }

    @Test func `the host types data, and ignores unknown frames`() throws {
        let bytes = frame("D", "ab") + frame("Z", "x") + frame("K", "") + frame("D", "c")
        #expect(try end(of: [bytes]) == (nil, "abc"))
        // In any pieces.
        #expect(try end(of: bytes.map { [$0] }) == (nil, "abc"))
        #expect(try end(of: [bytes], isReadOnly: true) == (nil, ""))
    }

    @Test func `a violation of the protocol ends a relay`() throws {
        #expect(try end(of: [frame("H", "{}") + frame("D", "x")]) == ("a second hello", ""))
        #expect(try end(of: [frame("W", "123")]) == ("an invalid size", ""))
        #expect(try end(of: [[0x44, 0, 1, 0, 1]]) == ("a frame of 65537 bytes", ""))
    }

    @Test(
        arguments: [
            ([0, 0, 0, 0], 24, 80), ([0xFF, 0xFF, 0xFF, 0xFF], 500, 1000), ([0, 30, 1, 0], 30, 256),
        ] as [([UInt8], UInt16, UInt16)])
    func `sizes are limited`(content: [UInt8], rows: UInt16, columns: UInt16) {
        #expect(HostRelay.size(content) == TerminalSize(rows: rows, columns: columns))
    }

    @Test func `the host sends all output before it reports the end of the terminal`() throws {
        let streams = try Descriptor.socketPair()
        let terminals = try Descriptor.socketPair()
        let output = [UInt8](repeating: UInt8(ascii: "x"), count: 3_000_000)
        let terminal = try ByteStream(terminals.second, on: loop)
        terminal.write(output)
        terminal.shutdownWrite()
        var frames = TerminalFrames()
        var received = 0
        let remote = try ByteStream(streams.second, on: loop)
        remote.onRead = { bytes in
            let frames = (try? frames.append(bytes)) ?? []
            received += frames.reduce(0) { $0 + ($1.kind == TerminalFrame.data ? $1.content.count : 0) }
        }
        remote.onEnd = { [loop] in loop.stop() }
        var reason: String?
        let stream = try ByteStream(streams.first, on: loop, marks: TerminalRelay.marks)
        let relay = HostRelay(
            stream, try ByteStream(terminals.first, on: loop, marks: TerminalRelay.marks), isReadOnly: false
        ) {
            reason = $0
            stream.close()
        }
        let limit = loop.timer(after: .seconds(60)) { [loop] in loop.stop() }
        try loop.run()
        limit.cancel()
        withExtendedLifetime(relay) {}
        #expect(reason == "ended")
        #expect(received == output.count)
    }

    /// Runs a viewer with these frames and keys.
    private func view(_ frames: [UInt8], keys: [String] = []) throws -> (reason: String?, shown: String, sent: String) {
        let streams = try Descriptor.socketPair()
        let keyboards = try Descriptor.socketPair()
        let remote = try Side(streams.second, on: loop)
        let keyboard = try ByteStream(keyboards.second, on: loop)
        let input = keyboards.first
        let raw = input.raw
        var shown = ""
        var reason: String?
        let terminal = ViewerRelay.Terminal(
            input: raw, output: -1,
            read: { () throws(Errno) in
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = try SystemCall.retrying { read(raw, &buffer, buffer.count) }
                return Array(buffer[..<count])
            },
            write: { bytes throws(Errno) in shown += String(decoding: bytes, as: UTF8.self) })
        let viewer = try ViewerRelay(try ByteStream(streams.first, on: loop), terminal, on: loop) { reason = $0 }
        remote.stream.write(frames)
        try loop.runTurns(10)
        for each in keys {
            keyboard.write(Array(each.utf8))
            try loop.runTurns(10)
        }
        withExtendedLifetime(viewer) {}
        input.close()
        return (reason, shown, remote.text)
    }

    @Test func `the viewer shows filtered output, and sends keys`() throws {
        let result = try view(frame("R", "{}") + frame("D", "a\u{1B}]0;t\u{7}b"), keys: ["x", "yz"])
        #expect(result == (nil, "ab", String(decoding: frame("D", "x") + frame("D", "yz"), as: UTF8.self)))
    }

    @Test(
        arguments: [
            ("{\"reason\": \"ended\", \"status\": \"x\"}", "ended"), ("{\"reason\": \"detached\"}", "detached"),
            ("{\"reason\": \"lost\"}", "closed"), ("{\"reason\": 1}", "closed"), ("{}", "closed"),
            ("[]", "malformed: a frame without an object"), ("", "malformed: a frame without an object"),
        ])
    func `the viewer reports only known reasons`(content: String, reason: String) throws {
        #expect(try view(frame("X", content) + frame("D", "late")) == (reason, "", ""))
    }

    @Test func `three keys detach a viewer, and one a viewer that cannot type`() throws {
        #expect(try view([], keys: ["\u{1D}", "\u{1D}", "\u{1D}"]).reason == "detached")
        #expect(try view([], keys: ["a\u{1D}\u{1D}\u{1D}b"]).reason == "detached")
        #expect(try view([], keys: ["\u{1D}\u{1D}a\u{1D}", "q"]).reason == nil)
        let readOnly = frame("R", "{\"readOnly\": true}")
        #expect(try view(readOnly, keys: ["x", "qq"]) == (nil, "", ""))
        #expect(try view(readOnly, keys: ["q"]) == ("detached", "", ""))
        #expect(try view(readOnly, keys: ["\u{3}"]) == ("detached", "", ""))
    }
}
