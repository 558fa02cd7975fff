import HandoffJSON
import LoopIO

/// Relays between the stream of a shared terminal and the terminal. `handoff-terminal` starts it
/// for each stream, because a typed key passes a relay twice on each device.
///
/// It exits when either side has ended, or when `handoff-terminal` has exited. It writes the reason
/// to standard error, which is a pipe to `handoff-terminal`.
package enum TerminalRelay {
    /// The first word of the command line. It is not a command for users.
    package static let word = "terminal-relay"

    /// The maximum number of queued bytes for a slow receiver. Above it, nothing is read from the
    /// other side. tmux then drops output, and redraws the screen when the client reads again.
    static let marks = ByteStream.Marks(low: 32 * 1024, high: 64 * 1024)
    private static let windowChanged: Int32 = 28  // SIGWINCH

    /// Runs a relay to its end.
    /// - Parameter words: `attach STREAM` for the terminal of this process, or `share STREAM
    ///   TERMINAL` or `share-read-only STREAM TERMINAL` for a pseudoterminal. The numbers are those
    ///   of inherited descriptors.
    package static func run(_ words: [String]) -> ExitStatus {
        let numbers = words.dropFirst().compactMap { Int32($0) }
        do throws(Errno) {
            try ProcessSignals.prepare(blocking: [windowChanged])
            let loop = try EventLoop(isDirect: true)
            let parent = try loop.watch(StandardStream.error.rawValue, .hangUp) { _ in loop.stop() }
            defer { parent.cancel() }
            let onEnd = { (reason: String) in
                // Fails only if handoff-terminal has exited.
                try? StandardStream.error.write(Array(reason.utf8))
                loop.stop()
            }
            switch (words.first, numbers.count) {
            case ("attach", 1):
                let stream = try ByteStream(Descriptor(owning: numbers[0]), on: loop, marks: marks)
                let viewer = try ViewerRelay(stream, on: loop, onEnd: onEnd)
                let signals = try loop.signal(windowChanged) { viewer.sendSize() }
                defer { signals.cancel() }
                // The window may have changed before.
                viewer.sendSize()
                try loop.run()
            case ("share", 2), ("share-read-only", 2):
                let stream = try ByteStream(Descriptor(owning: numbers[0]), on: loop, marks: marks)
                let terminal = try ByteStream(Descriptor(owning: numbers[1]), on: loop, marks: marks)
                let host = HostRelay(stream, terminal, isReadOnly: words[0] != "share", onEnd: onEnd)
                try loop.run()
                withExtendedLifetime(host) {}
            default: return .wrongUsage
            }
            return .done
        } catch {
            try? StandardStream.error.write(Array("\(error)".utf8))
            return .failed
        }
    }
}

/// Relays between a viewer on another device and the pseudoterminal of its tmux client. Used only
/// on the loop's thread.
final class HostRelay {
    private static let maxSize = TerminalSize(rows: 500, columns: 1000)
    private static let unknownSize = TerminalSize(rows: 24, columns: 80)

    private let stream: ByteStream
    private let terminal: ByteStream
    private let isReadOnly: Bool
    private let onEnd: (String) -> Void
    private var frames = TerminalFrames()
    private var isOver = false

    /// - Parameter onEnd: called once with `ended` if the tmux client has exited, after its last
    ///   output was sent, with `lost`, or with the violation of the protocol.
    init(
        _ stream: ByteStream, _ terminal: ByteStream, isReadOnly: Bool, onEnd: @escaping (String) -> Void
    ) {
        self.stream = stream
        self.terminal = terminal
        self.isReadOnly = isReadOnly
        self.onEnd = onEnd
        terminal.onRead = { [weak self] bytes in
            if !stream.write(TerminalFrame.data(bytes)) { self?.terminal.pauseReading() }
        }
        stream.onDrained = { [weak self] in self?.terminal.resumeReading() }
        stream.onRead = { [weak self] bytes in self?.received(bytes) }
        terminal.onDrained = { [weak self] in self?.stream.resumeReading() }
        stream.onEnd = { [weak self] in self?.finish("lost") }
        stream.onError = { [weak self] _ in self?.finish("lost") }
        terminal.onEnd = { [weak self] in self?.terminalEnded() }
        // EIO is the end of a pseudoterminal.
        terminal.onError = { [weak self] _ in self?.terminalEnded() }
    }

    private func received(_ bytes: [UInt8]) {
        do throws(TerminalFrames.Malformed) {
            for frame in try frames.append(bytes) where !isOver { try handle(frame) }
        } catch {
            finish(error.cause)
        }
    }

    private func handle(_ frame: TerminalFrame) throws(TerminalFrames.Malformed) {
        switch frame.kind {
        case TerminalFrame.data:
            if !isReadOnly, !terminal.write(frame.content) { stream.pauseReading() }
        case TerminalFrame.size:
            guard frame.content.count == 4 else { throw TerminalFrames.Malformed(cause: "an invalid size") }
            guard let number = terminal.rawDescriptor else { return }
            // Fails only if the tmux client has exited.
            try? Self.size(frame.content).apply(to: number)
        case TerminalFrame.hello: throw TerminalFrames.Malformed(cause: "a second hello")
        default: break
        }
    }

    /// Returns a size within the limits. Zero means unknown.
    static func size(_ content: [UInt8]) -> TerminalSize {
        let rows = UInt16(content[0]) << 8 | UInt16(content[1])
        let columns = UInt16(content[2]) << 8 | UInt16(content[3])
        return TerminalSize(
            rows: rows == 0 ? unknownSize.rows : min(rows, maxSize.rows),
            columns: columns == 0 ? unknownSize.columns : min(columns, maxSize.columns))
    }

    private func terminalEnded() {
        stream.onRead = nil
        guard stream.pendingWriteBytes > 0 else { return finish("ended") }
        stream.onFlushed = { [weak self] in self?.finish("ended") }
    }

    private func finish(_ reason: String) {
        guard !isOver else { return }
        isOver = true
        onEnd(reason)
    }
}

/// Relays between the stream and the terminal of a viewer. Used only on the loop's thread.
final class ViewerRelay {
    /// The descriptors of the terminal. They stay blocking, because other processes share them.
    struct Terminal {
        var input: Int32 = 0
        var output: Int32 = 1
        var read: () throws(Errno) -> [UInt8] = { () throws(Errno) in try StandardInput.readSome(limit: 4096) }
        var write: ([UInt8]) throws(Errno) -> Void = { bytes throws(Errno) in try StandardStream.output.write(bytes) }
    }

    /// A stream without a byte for an hour ends.
    private static let keepAliveInterval = Duration.seconds(1200)
    /// Pressing this key (Ctrl-]) three times detaches even if the other device does not reply.
    private static let detachKey: UInt8 = 0x1D
    private static let reasons: Set<String> = ["detached", "ended", "closed", "replaced", "busy"]

    private let stream: ByteStream
    private let terminal: Terminal
    private let onEnd: (String) -> Void
    private var input: EventSource?
    private var keepAlive: LoopTimer?
    private var frames = TerminalFrames()
    private var filter = TerminalFilter()
    private var isReadOnly = false
    private var detachKeys = 0
    private var isOver = false

    /// - Parameter onEnd: called once with the reason for the end: one that the other device has
    ///   sent, `lost`, or `malformed: ` and the violation of the protocol.
    init(
        _ stream: ByteStream, _ terminal: Terminal = Terminal(), on loop: EventLoop, onEnd: @escaping (String) -> Void
    ) throws(Errno) {
        self.stream = stream
        self.terminal = terminal
        self.onEnd = onEnd
        input = try loop.watch(terminal.input, .readable) { [weak self] _ in self?.typed() }
        keepAlive = loop.timer(after: Self.keepAliveInterval, accuracy: .seconds(60)) { [weak self] in
            self?.stream.write(TerminalFrame(kind: TerminalFrame.keepAlive, content: []).bytes)
            self?.keepAlive?.rearm(after: Self.keepAliveInterval)
        }
        stream.onRead = { [weak self] bytes in self?.received(bytes) }
        stream.onDrained = { [weak self] in self?.input?.setEvents(.readable) }
        stream.onEnd = { [weak self] in self?.finish("lost") }
        stream.onError = { [weak self] _ in self?.finish("lost") }
    }

    /// Sends the size of the terminal.
    func sendSize() {
        guard let size = try? TerminalSize(of: terminal.output) else { return }
        let content = [size.rows, size.columns].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        stream.write(TerminalFrame(kind: TerminalFrame.size, content: content).bytes)
    }

    private func typed() {
        // An error is the end of the terminal.
        guard let keys = try? terminal.read(), !keys.isEmpty, !detaches(keys) else { return finish("detached") }
        if !isReadOnly, !stream.write(TerminalFrame.data(keys)) { input?.setEvents([]) }
    }

    private func detaches(_ keys: [UInt8]) -> Bool {
        for key in keys {
            detachKeys = key == Self.detachKey ? detachKeys + 1 : 0
            if detachKeys == 3 { return true }
        }
        return isReadOnly && (keys == [UInt8(ascii: "q")] || keys == [0x03])
    }

    private func received(_ bytes: [UInt8]) {
        do throws(TerminalFrames.Malformed) {
            for frame in try frames.append(bytes) where !isOver { try handle(frame) }
        } catch {
            finish("malformed: \(error.cause)")
        }
    }

    private func handle(_ frame: TerminalFrame) throws(TerminalFrames.Malformed) {
        switch frame.kind {
        case TerminalFrame.data:
            do throws(Errno) {
                try terminal.write(filter.pass(frame.content))
            } catch {
                finish("detached")
            }
        case TerminalFrame.ready: isReadOnly = try frame.object()["readOnly"]?.bool == true
        case TerminalFrame.exit:
            let reason = try frame.object()["reason"]?.string ?? ""
            finish(Self.reasons.contains(reason) ? reason : "closed")
        default: break
        }
    }

    private func finish(_ reason: String) {
        guard !isOver else { return }
        isOver = true
        input?.cancel()
        stream.onRead = nil
        onEnd(reason)
    }
}
