import Glibc
import LoopIO

/// The bytes of a stream in memory that this app shares with the daemon, as `StreamSocket` reads and writes them. Any thread, one for
/// each direction at a time.
///
/// The daemon rings at the stream's socket when there are bytes, and at `roomBell` when there is room. A bell is silenced only by who
/// has found nothing and is going to look again: a ring that nobody has heard yet must not be lost.
final class SharedBytes: Sendable {
    private let reader: Locked<RingReader>
    private let writer: Locked<RingWriter>
    private let socket: SocketCore
    private let roomBell: SocketCore
    /// Bytes that still come by the socket.
    private let early: Locked<Int>

    /// - Parameters:
    ///   - received: how many bytes come by the socket before those in the memory.
    ///   - socket: the stream's socket.
    ///   - roomBell: ours of the two ends by which the daemon rings for room.
    init(_ memory: StreamMemory, received: Int, socket: SocketCore, roomBell: SocketCore) {
        reader = Locked(memory.reader(as: .app))
        writer = Locked(memory.writer(as: .app))
        early = Locked(received)
        self.socket = socket
        self.roomBell = roomBell
    }

    /// Reads what is there, without waiting.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamSocket.Outcome {
        let early = early.withLock { $0 }
        if early > 0 {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, early)])
            let outcome = socket.outcome { recv($0, room.baseAddress, room.count, Int32(MSG_DONTWAIT)) }
            if case .moved(let count) = outcome { self.early.withLock { $0 -= count } }
            return outcome
        }
        let target = Lent(buffer)
        return twice(socket) { [reader, socket] () throws(BrokenRing) in
            let (count, rings) = try reader.withLock { (reader) throws(BrokenRing) in
                try reader.read(into: target.value)
            }
            if rings { socket.ring() }
            return count > 0 ? .moved(count) : try end()
        } ?? .ended
    }

    /// What the next read would find, without taking it.
    func peek() -> StreamSocket.Outcome {
        if early.withLock({ $0 > 0 }) {
            var byte: UInt8 = 0
            return socket.outcome { recv($0, &byte, 1, Int32(MSG_DONTWAIT | MSG_PEEK)) }
        }
        return twice(socket) { [reader] () throws(BrokenRing) in
            try reader.withLock { (reader) throws(BrokenRing) in try reader.hasBytes() } ? .moved(1) : try end()
        } ?? .ended
    }

    /// Writes as much as there is room for, without waiting.
    func write(_ buffer: UnsafeRawBufferPointer) -> StreamSocket.Outcome {
        // What nobody would take is not taken from the app.
        guard !socket.hasHungUp else { return .failed(.brokenPipe) }
        let source = Lent(buffer)
        return twice(roomBell) { [writer, socket] () throws(BrokenRing) in
            let (count, rings) = try writer.withLock { (writer) throws(BrokenRing) in try writer.write(source.value) }
            if rings { socket.ring() }
            return count > 0 ? .moved(count) : nil
        } ?? .failed(.brokenPipe)
    }

    /// Our direction ends.
    func endWriting() {
        if writer.withLock({ $0.end() }) { socket.ring() }
    }

    /// Whether a direction can go on, has ended or has failed. Silences nothing.
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

    /// Waits for the bell of a direction, unless it can go on.
    func wait(for direction: SocketCore.Direction) {
        if isWaiting(for: direction) { _ = bell(direction).poll(.reading, timeout: -1) }
    }

    /// Wakes a waiter once on the loop's thread, when a direction can continue, has ended or has failed.
    func whenReady(_ direction: SocketCore.Direction, on loop: EventLoop, _ waiter: StreamWaiter) {
        if isWaiting(for: direction) {
            bell(direction).whenReady(.reading, waiter)
        } else {
            loop.perform { waiter.wake() }
        }
    }

    /// Releases the waiters for room that were cancelled; those for bytes are the socket's.
    func removeCancelled() { roomBell.removeCancelled() }

    /// Both directions are over, and nobody waits for a bell any more.
    func close() { roomBell.end() }

    private func bell(_ direction: SocketCore.Direction) -> SocketCore { direction == .reading ? socket : roomBell }

    /// Tells the daemon that we wait.
    /// - Returns: false when there is nothing to wait for.
    private func isWaiting(for direction: SocketCore.Direction) -> Bool {
        if socket.hasHungUp { return false }
        switch direction {
        case .reading:
            if early.withLock({ $0 > 0 }) { return true }
            return (try? reader.withLock { (reader) throws(BrokenRing) in try reader.wait() }) ?? false
        case .writing: return (try? writer.withLock { (writer) throws(BrokenRing) in try writer.wait() }) ?? false
        }
    }

    /// The end of what is read, once there is one.
    private func end() throws(BrokenRing) -> StreamSocket.Outcome? {
        try reader.withLock { (reader) throws(BrokenRing) in try reader.isAtEnd() } ? .ended : nil
    }

    /// Looks; where there is nothing, silences the bell and looks again, since it may have rung in between.
    /// - Returns: nil when the daemon has closed its end and left nothing.
    private func twice(
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

/// What the caller lends for the time of a call.
///
/// Unchecked: nobody keeps it, and the call stays on its thread.
private struct Lent<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension SocketCore {
    /// Wakes the daemon.
    func ring() { _ = withDescriptor { Bell.ring($0) } }

    /// Whether the daemon has closed its end, or ours is over.
    var hasHungUp: Bool {
        withDescriptor { raw in
            var entry = pollfd(fd: raw, events: 0, revents: 0)
            return Glibc.poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP | POLLERR) != 0
        } ?? true
    }
}
