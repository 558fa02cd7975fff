import Foundation
import Glibc
import LoopIO

/// One continuation stream: the connection to the daemon that has become it. Both streams of Foundation and the asynchronous one
/// are made of it. It is closed when both directions were, or when the last of them is let go.
final class StreamSocket: Sendable {
    /// What became of a read or a write.
    enum Outcome: Equatable {
        /// So many bytes moved, at least one.
        case moved(Int)
        /// Nothing can move now.
        case wouldBlock
        /// The direction has ended.
        case ended
        /// The connection has failed.
        case failed(Errno)
    }

    private struct State {
        /// What came together with the daemon's reply, and was not read.
        var first: [UInt8]
        var isInputClosed = false
        var isOutputClosed = false
    }

    private let core: SocketCore
    /// Keeps the loop.
    private let application: HandoffApplication
    /// Not locked while something waits.
    private let state: Locked<State>

    /// Takes over a connection.
    init(_ descriptor: consuming Descriptor, first: [UInt8], loop: EventLoop, application: HandoffApplication) {
        UnixSocket.widen(descriptor.raw)
        core = SocketCore(descriptor, loop: loop)
        state = Locked(State(first: first))
        self.application = application
    }

    deinit {
        core.end()
    }

    /// Its two directions as Foundation's streams, unopened.
    func streams() -> (InputStream, OutputStream) {
        (HandoffInputStream(self), HandoffOutputStream(self))
    }

    // MARK: Bytes

    /// Reads what is there, without waiting.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        let early: Outcome? = state.withLock { state in
            if state.isInputClosed { return .ended }
            let count = min(state.first.count, buffer.count)
            guard count > 0 else { return nil }
            buffer.copyBytes(from: state.first[..<count])
            state.first.removeFirst(count)
            return .moved(count)
        }
        return early ?? outcome { recv($0, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) }
    }

    /// Writes as much as there is room for, without waiting. At least one byte.
    func write(_ buffer: UnsafeRawBufferPointer) -> Outcome {
        if state.withLock({ $0.isOutputClosed }) { return .failed(.brokenPipe) }
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        let outcome = outcome { send($0, buffer.baseAddress, buffer.count, flags) }
        return outcome == .ended ? .failed(.brokenPipe) : outcome
    }

    /// Whether a read would find something (bytes, the end, a failure), or a write room, without waiting.
    func isReady(_ direction: SocketCore.Direction) -> Bool {
        if direction == .reading, state.withLock({ !$0.first.isEmpty }) { return true }
        return poll(direction, timeout: 0)
    }

    /// Waits until a direction can go on, has ended or has failed.
    func wait(for direction: SocketCore.Direction) {
        if !isReady(direction) { _ = poll(direction, timeout: -1) }
    }

    /// Calls a handler once on the loop's thread, when a direction can go on, has ended or has failed.
    func whenReady(_ direction: SocketCore.Direction, _ handler: @escaping @Sendable () -> Void) {
        core.whenReady(direction, handler)
    }

    /// What the next read would find, without taking it.
    func peek() -> Outcome {
        if state.withLock({ !$0.first.isEmpty }) { return .moved(1) }
        var byte: UInt8 = 0
        return outcome { recv($0, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK)) }
    }

    private func poll(_ direction: SocketCore.Direction, timeout: Int32) -> Bool {
        let events = Int16(direction == .reading ? POLLIN : POLLOUT)
        // After the end there is nothing to wait for.
        return core.withDescriptor { raw in
            var entry = pollfd(fd: raw, events: events, revents: 0)
            while true {
                let result = Glibc.poll(&entry, 1, timeout)
                if result >= 0 { return result > 0 }
                if errno != EINTR { return true }
            }
        } ?? true
    }

    private func outcome(_ call: (Int32) -> Int) -> Outcome {
        core.withDescriptor { raw in
            do throws(Errno) {
                let count = try SystemCall.retrying { call(raw) }
                return count == 0 ? .ended : .moved(count)
            } catch {
                return error == .wouldBlock ? .wouldBlock : .failed(error)
            }
        } ?? .ended
    }

    // MARK: The end

    /// Nothing is read any more.
    func closeInput() { close { $0.isInputClosed = true } }

    /// Our direction ends; bytes still come.
    func closeOutput() {
        let isFirst = state.withLock { !$0.isOutputClosed }
        if isFirst { _ = core.withDescriptor { shutdown($0, Int32(SHUT_WR)) } }
        close { $0.isOutputClosed = true }
    }

    /// Ends both directions.
    func close() {
        closeOutput()
        closeInput()
    }

    private func close(_ change: (inout State) -> Void) {
        let isOver = state.withLock { state in
            change(&state)
            return state.isInputClosed && state.isOutputClosed
        }
        if isOver { core.end() }
    }
}
