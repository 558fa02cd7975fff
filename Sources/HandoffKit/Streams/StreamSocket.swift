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
    /// What has taken the place of the socket, where the daemon shares memory.
    private let shared: SharedBytes?
    /// Not locked while something waits.
    private let state: Locked<State>

    /// Takes over a connection.
    /// - Parameters:
    ///   - first: what came together with the daemon's reply.
    ///   - memory: what the daemon shares for it; nil for a stream whose bytes go by the socket.
    init(
        _ descriptor: consuming Descriptor, first: [UInt8], memory: SharedMemory?, loop: EventLoop,
        application: HandoffApplication
    ) {
        UnixSocket.widen(descriptor.raw)
        let core = SocketCore(descriptor, loop: loop)
        self.core = core
        shared = memory?.bytes(behind: first.count, core)
        state = Locked(State(first: first))
        self.application = application
    }

    deinit {
        core.end()
        shared?.close()
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
        if let early { return early }
        if let shared { return shared.read(into: buffer) }
        return core.outcome { recv($0, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) }
    }

    /// Writes as much as there is room for, without waiting. At least one byte.
    func write(_ buffer: UnsafeRawBufferPointer) -> Outcome {
        if state.withLock({ $0.isOutputClosed }) { return .failed(.brokenPipe) }
        if let shared { return shared.write(buffer) }
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        let outcome = core.outcome { send($0, buffer.baseAddress, buffer.count, flags) }
        return outcome == .ended ? .failed(.brokenPipe) : outcome
    }

    /// Whether a read would find something (bytes, the end, a failure), or a write room, without waiting.
    func isReady(_ direction: SocketCore.Direction) -> Bool {
        if direction == .reading, state.withLock({ !$0.first.isEmpty }) { return true }
        return shared?.isReady(direction) ?? core.poll(direction, timeout: 0)
    }

    /// Waits until a direction can go on, has ended or has failed.
    func wait(for direction: SocketCore.Direction) {
        if isReady(direction) { return }
        if let shared { shared.wait(for: direction) } else { _ = core.poll(direction, timeout: -1) }
    }

    /// Wakes a waiter once on the loop's thread, when a direction can continue, has ended or has failed.
    func whenReady(_ direction: SocketCore.Direction, _ waiter: StreamWaiter) {
        if let shared {
            shared.whenReady(direction, on: core.loop, waiter)
        } else {
            core.whenReady(direction, waiter)
        }
    }

    /// Releases the waiters that were cancelled.
    func removeCancelled() {
        core.removeCancelled()
        shared?.removeCancelled()
    }

    /// What the next read would find, without taking it.
    func peek() -> Outcome {
        if state.withLock({ !$0.first.isEmpty }) { return .moved(1) }
        if let shared { return shared.peek() }
        var byte: UInt8 = 0
        return core.outcome { recv($0, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK)) }
    }

    // MARK: The end

    /// Nothing is read any more.
    func closeInput() { close { $0.isInputClosed = true } }

    /// Our direction ends; bytes still come.
    func closeOutput() {
        let isFirst = state.withLock { !$0.isOutputClosed }
        if isFirst {
            if let shared { shared.endWriting() } else { _ = core.withDescriptor { shutdown($0, Int32(SHUT_WR)) } }
        }
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
        guard isOver else { return }
        core.end()
        shared?.close()
    }
}
