import Foundation
import LoopIO

/// One direction of a continuation stream, with the semantics of Foundation's streams: its status,
/// and its due events.
final class StreamSide: Sendable {
    private struct State {
        var status = Stream.Status.notOpen
        var error: Errno?
        /// True if the loop watches for the next event, or an event was posted that the app has not
        /// yet answered with a read or write.
        var isArmed = false
    }

    let socket: StreamSocket
    let events = RunLoopEvents()
    private let direction: SocketCore.Direction
    private let state = Locked(State())

    init(_ socket: StreamSocket, _ direction: SocketCore.Direction) {
        self.socket = socket
        self.direction = direction
    }

    var status: Stream.Status { state.withLock { $0.status } }

    /// The error, if the stream has failed.
    var error: (any Error)? {
        state.withLock { $0.error }.map { error in
            NSError(
                domain: NSPOSIXErrorDomain, code: Int(error.rawValue),
                userInfo: [NSLocalizedDescriptionKey: "the continuation stream has failed: \(error)"])
        }
    }

    /// Opens the stream. Does nothing the second time.
    func open() {
        let isFirst = state.withLock { state in
            guard state.status == .notOpen else { return false }
            state.status = .open
            return true
        }
        guard isFirst else { return }
        events.post(.openCompleted) { true }
        arm()
    }

    /// Closes the stream.
    /// - Returns: whether it was not closed before.
    func close() -> Bool {
        let isFirst = state.withLock { state in
            guard state.status != .closed else { return false }
            state.status = .closed
            return true
        }
        if isFirst { events.removeAll() }
        return isFirst
    }

    /// True if bytes may be read or written.
    var isUsable: Bool { state.withLock { $0.status == .open } }

    /// Watches for the next event, if the stream is open and scheduled.
    func arm() {
        guard events.isScheduled else { return }
        let isDue = state.withLock { state in
            guard state.status == .open, !state.isArmed else { return false }
            state.isArmed = true
            return true
        }
        guard isDue else { return }
        if socket.isReady(direction) { return ready() }
        socket.whenReady(direction, StreamWaiter { [weak self] in self?.ready() })
    }

    /// Allows the next event, after the app has read or written.
    func disarm() { state.withLock { $0.isArmed = false } }

    func end() {
        let isFirst = state.withLock { state in
            guard state.status == .open else { return false }
            state.status = .atEnd
            return true
        }
        if isFirst { events.post(.endEncountered) { [weak self] in self?.status == .atEnd } }
    }

    func fail(_ error: Errno) {
        let isFirst = state.withLock { state in
            guard state.status == .open else { return false }
            state.status = .error
            state.error = error
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
                // Another reader has consumed the bytes.
                disarm()
                arm()
            }
        }
    }

    private func post(_ event: Stream.Event) {
        let isPosted = events.post(event) { [weak self] in
            guard let self, isUsable else { return false }
            if socket.isReady(direction) { return true }
            // The delegate's call would block the run loop.
            disarm()
            arm()
            return false
        }
        if !isPosted { disarm() }
    }
}
