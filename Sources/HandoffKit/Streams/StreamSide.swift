import Foundation
import LoopIO

/// One direction of a continuation stream as Foundation's streams have it: its status, and which events are due.
///
/// Unchecked Sendable: the lock is held around every access to what changes.
final class StreamSide: @unchecked Sendable {
    let socket: StreamSocket
    let events = RunLoopEvents()
    private let direction: SocketCore.Direction
    private let lock = NSLock()
    private var storedStatus = Stream.Status.notOpen
    private var storedError: Errno?
    /// Whether the loop watches for the next event, or one was posted that the app has not answered by a read or write.
    private var isArmed = false

    /// The direction of a stream, not open.
    init(_ socket: StreamSocket, _ direction: SocketCore.Direction) {
        self.socket = socket
        self.direction = direction
    }

    /// The status of the stream.
    var status: Stream.Status { lock.withLock { storedStatus } }

    /// Why it failed.
    var error: (any Error)? {
        lock.withLock { storedError }.map { error in
            NSError(
                domain: NSPOSIXErrorDomain, code: Int(error.rawValue),
                userInfo: [NSLocalizedDescriptionKey: "the continuation stream has failed: \(error)"])
        }
    }

    /// Opens it; nothing the second time.
    func open() {
        let isFirst = lock.withLock {
            guard storedStatus == .notOpen else { return false }
            storedStatus = .open
            return true
        }
        guard isFirst else { return }
        events.post(.openCompleted) { true }
        arm()
    }

    /// Closes it.
    /// - Returns: whether it was not closed before.
    func close() -> Bool {
        let isFirst = lock.withLock {
            guard storedStatus != .closed else { return false }
            storedStatus = .closed
            return true
        }
        if isFirst { events.removeAll() }
        return isFirst
    }

    /// Whether bytes may move.
    var isUsable: Bool { lock.withLock { storedStatus == .open } }

    /// Watches for the next event, while it is open and scheduled.
    func arm() {
        guard events.isScheduled else { return }
        let isDue = lock.withLock {
            guard storedStatus == .open, !isArmed else { return false }
            isArmed = true
            return true
        }
        guard isDue else { return }
        if socket.isReady(direction) { return ready() }
        socket.whenReady(direction) { [weak self] in self?.ready() }
    }

    /// The app has read or written: another event may come.
    func disarm() { lock.withLock { isArmed = false } }

    /// A direction ended.
    func end() {
        let isFirst = lock.withLock {
            guard storedStatus == .open else { return false }
            storedStatus = .atEnd
            return true
        }
        if isFirst { events.post(.endEncountered) { [weak self] in self?.status == .atEnd } }
    }

    /// The connection failed.
    func fail(_ error: Errno) {
        let isFirst = lock.withLock {
            guard storedStatus == .open else { return false }
            storedStatus = .error
            storedError = error
            return true
        }
        if isFirst { events.post(.errorOccurred) { [weak self] in self?.status == .error } }
    }

    private func ready() {
        switch direction {
        case .writing: post(.hasSpaceAvailable)
        case .reading:
            switch socket.peek() {
            case .ended: end()
            case .failed(let error): fail(error)
            case .moved: post(.hasBytesAvailable)
            case .wouldBlock:
                // Somebody has read it meanwhile.
                disarm()
                arm()
            }
        }
    }

    private func post(_ event: Stream.Event) {
        let isPosted = events.post(event) { [weak self] in
            guard let self, isUsable else { return false }
            if socket.isReady(direction) { return true }
            // Its delegate would wait in the run loop.
            disarm()
            arm()
            return false
        }
        if !isPosted { disarm() }
    }
}
