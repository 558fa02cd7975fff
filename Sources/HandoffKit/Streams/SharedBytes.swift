import Glibc
import LoopIO

/// The bytes of a stream in memory that this app shares with the daemon, as `StreamSocket` reads
/// and writes them. Any thread, at most one per direction at a time.
///
/// The daemon signals bytes on the stream's socket, and available space on `roomBell`. A bell may
/// only be silenced by a caller that has found nothing and is about to look again. Otherwise a
/// signal could be lost.
final class SharedBytes: Sendable {
    private let reader: Locked<RingReader>
    private let writer: Locked<RingWriter>
    private let socket: SocketCore
    private let roomBell: SocketCore
    /// The number of bytes that are still to be read from the socket.
    private let early: Locked<Int>

    /// - Parameters:
    ///   - received: the number of bytes that the socket delivers before those in the memory.
    ///   - socket: the stream's socket.
    ///   - roomBell: the local end of the socket pair on which the daemon signals space.
    init(_ memory: StreamMemory, received: Int, socket: SocketCore, roomBell: SocketCore) {
        reader = Locked(memory.reader(as: .app))
        writer = Locked(memory.writer(as: .app))
        early = Locked(received)
        self.socket = socket
        self.roomBell = roomBell
    }

    /// Reads available bytes, without blocking.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamSocket.Outcome {
        let early = early.withLock { $0 }
        if early > 0 {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, early)])
            let outcome = socket.outcome { recv($0, room.baseAddress, room.count, Int32(MSG_DONTWAIT)) }
            if case .moved(let count) = outcome { self.early.withLock { $0 -= count } }
            return outcome
        }
        let target = Lent(buffer)
        return lookTwice(socket) { [reader, socket] () throws(BrokenRing) in
            let (count, rings) = try reader.withLock { (reader) throws(BrokenRing) in
                try reader.read(into: target.value)
            }
            if rings { socket.ring() }
            return count > 0 ? .moved(count) : try end()
        } ?? .ended
    }

    /// Returns the outcome of the next read, without consuming bytes.
    func peek() -> StreamSocket.Outcome {
        if early.withLock({ $0 > 0 }) {
            var byte: UInt8 = 0
            return socket.outcome { recv($0, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK)) }
        }
        return lookTwice(socket) { [reader] () throws(BrokenRing) in
            try reader.withLock { (reader) throws(BrokenRing) in try reader.hasBytes() } ? .moved(1) : try end()
        } ?? .ended
    }

    /// Writes as many bytes as fit, without blocking.
    func write(_ buffer: UnsafeRawBufferPointer) -> StreamSocket.Outcome {
        // Accept no bytes from the app that could not be delivered.
        guard !socket.hasHungUp else { return .failed(.brokenPipe) }
        let source = Lent(buffer)
        return lookTwice(roomBell) { [writer, socket] () throws(BrokenRing) in
            let (count, rings) = try writer.withLock { (writer) throws(BrokenRing) in try writer.write(source.value) }
            if rings { socket.ring() }
            return count > 0 ? .moved(count) : nil
        } ?? .failed(.brokenPipe)
    }

    func endWriting() {
        if writer.withLock({ $0.end() }) { socket.ring() }
    }

    /// Returns whether a direction can continue, has ended or has failed. Does not silence a bell.
    func isReady(_ direction: SocketCore.Direction) -> Bool {
        if socket.hasHungUp { return true }
        switch direction {
        case .reading:
            if early.withLock({ $0 > 0 }) { return socket.poll(.reading, timeout: 0) }
            return
                (try? reader.withLock { (reader) throws(BrokenRing) in
                    let isAtEnd = try reader.isAtEnd()
                    let hasBytes = try reader.hasBytes()
                    return hasBytes || isAtEnd
                }) ?? true
        case .writing: return (try? writer.withLock { (writer) throws(BrokenRing) in try writer.hasRoom() }) ?? true
        }
    }

    /// Blocks until the bell of a direction rings, unless the direction can already continue.
    func wait(for direction: SocketCore.Direction) {
        if isWaiting(for: direction) { _ = bell(direction).poll(.reading, timeout: -1) }
    }

    /// Wakes a waiter once, on the loop's thread, when a direction is ready, has ended or has
    /// failed.
    func whenReady(_ direction: SocketCore.Direction, on loop: EventLoop, _ waiter: StreamWaiter) {
        if isWaiting(for: direction) {
            bell(direction).whenReady(.reading, waiter)
        } else {
            loop.perform { waiter.wake() }
        }
    }

    /// Releases the cancelled waiters for space. The socket releases those for bytes.
    func removeCancelled() { roomBell.removeCancelled() }

    /// Closes the bell after both directions have ended. Its waiters are woken.
    func close() { roomBell.end() }

    private func bell(_ direction: SocketCore.Direction) -> SocketCore { direction == .reading ? socket : roomBell }

    /// Announces to the daemon that this side waits.
    /// - Returns: false if waiting is unnecessary.
    private func isWaiting(for direction: SocketCore.Direction) -> Bool {
        if socket.hasHungUp { return false }
        switch direction {
        case .reading:
            if early.withLock({ $0 > 0 }) { return true }
            return (try? reader.withLock { (reader) throws(BrokenRing) in try reader.wait() }) ?? false
        case .writing: return (try? writer.withLock { (writer) throws(BrokenRing) in try writer.wait() }) ?? false
        }
    }

    /// Returns `.ended` if the incoming direction is at its end; otherwise nil.
    private func end() throws(BrokenRing) -> StreamSocket.Outcome? {
        try reader.withLock { (reader) throws(BrokenRing) in try reader.isAtEnd() } ? .ended : nil
    }

    /// Calls `look`. If there is nothing, silences the bell and calls it again, because the bell
    /// may have rung in between.
    /// - Returns: nil if the daemon has closed its end and nothing is left.
    private func lookTwice(
        _ bell: SocketCore, _ look: () throws(BrokenRing) -> StreamSocket.Outcome?
    ) -> StreamSocket.Outcome? {
        do throws(BrokenRing) {
            if let outcome = try look() { return outcome }
            let isOpen = bell.withDescriptor { Bell.silence($0) } ?? false
            if let outcome = try look() { return outcome }
            return isOpen ? .wouldBlock : nil
        } catch {
            return .failed(.inputOutput)
        }
    }
}

/// A value that the caller lends for the duration of a call.
///
/// Unchecked: it is not retained, and the call stays on its thread.
private struct Lent<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension SocketCore {
    /// Wakes the daemon.
    func ring() { _ = withDescriptor { Bell.ring($0) } }

    /// True if the daemon has closed its end, or the local end is closed.
    var hasHungUp: Bool {
        withDescriptor { raw in
            var entry = pollfd(fd: raw, events: 0, revents: 0)
            return Glibc.poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP | POLLERR) != 0
        } ?? true
    }
}
