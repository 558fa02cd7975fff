import Foundation
import Glibc
import LoopIO

/// A continuation stream: a connection to the daemon that has become the stream. Foundation's
/// streams and the asynchronous stream are built on it. It is closed when both directions are
/// closed, or when the last reference is released.
final class StreamSocket: Sendable {
    /// The outcome of a read or write.
    enum Outcome: Equatable {
        /// The number of bytes moved, at least one.
        case moved(Int)
        /// The call would block.
        case wouldBlock
        case ended
        case failed(Errno)
    }

    private struct State {
        /// Bytes that arrived with the daemon's reply and have not been read.
        var first: [UInt8]
        var isInputClosed = false
        var isOutputClosed = false
    }

    private let core: SocketCore
    /// A reference that keeps the loop alive.
    private let application: HandoffApplication
    /// Used in place of the socket if the daemon shares memory.
    private let shared: SharedBytes?
    /// Not locked while blocking.
    private let state: Locked<State>

    /// Creates a stream that owns a connection.
    /// - Parameters:
    ///   - first: the bytes that arrived with the daemon's reply.
    ///   - memory: the memory that the daemon shares; nil for a stream that uses the socket.
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

    /// Returns the two directions as Foundation streams, unopened.
    func streams() -> (InputStream, OutputStream) {
        (HandoffInputStream(self), HandoffOutputStream(self))
    }

    // MARK: Bytes

    /// Reads available bytes, without blocking.
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

    /// Writes as many bytes as fit, without blocking. The buffer must not be empty.
    func write(_ buffer: UnsafeRawBufferPointer) -> Outcome {
        if state.withLock({ $0.isOutputClosed }) { return .failed(.brokenPipe) }
        if let shared { return shared.write(buffer) }
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        let outcome = core.outcome { send($0, buffer.baseAddress, buffer.count, flags) }
        return outcome == .ended ? .failed(.brokenPipe) : outcome
    }

    /// Returns whether a read (of bytes, the end or a failure) or a write would complete without
    /// blocking.
    func isReady(_ direction: SocketCore.Direction) -> Bool {
        if direction == .reading, state.withLock({ !$0.first.isEmpty }) { return true }
        return shared?.isReady(direction) ?? core.poll(direction, timeout: 0)
    }

    /// Blocks until a direction can continue, has ended or has failed.
    func wait(for direction: SocketCore.Direction) {
        if isReady(direction) { return }
        if let shared { shared.wait(for: direction) } else { _ = core.poll(direction, timeout: -1) }
    }

    /// Wakes a waiter once, on the loop's thread, when a direction is ready, has ended or has
    /// failed.
    func whenReady(_ direction: SocketCore.Direction, _ waiter: StreamWaiter) {
        if let shared {
            shared.whenReady(direction, on: core.loop, waiter)
        } else {
            core.whenReady(direction, waiter)
        }
    }

    func removeCancelled() {
        core.removeCancelled()
        shared?.removeCancelled()
    }

    /// Returns the outcome of the next read, without consuming bytes.
    func peek() -> Outcome {
        if state.withLock({ !$0.first.isEmpty }) { return .moved(1) }
        if let shared { return shared.peek() }
        var byte: UInt8 = 0
        return core.outcome { recv($0, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK)) }
    }

    // MARK: Closing

    func closeInput() { close { $0.isInputClosed = true } }

    /// Ends the outgoing direction. Reading continues to work.
    func closeOutput() {
        let isFirst = state.withLock { !$0.isOutputClosed }
        if isFirst {
            if let shared { shared.endWriting() } else { _ = core.withDescriptor { shutdown($0, Int32(SHUT_WR)) } }
        }
        close { $0.isOutputClosed = true }
    }

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
