import Foundation
import LoopIO

/// One direction of a continuation stream as Foundation's streams have it: its status, and which events are due.
final class StreamSide: Sendable {
    private struct State {
        var status = Stream.Status.notOpen
        var error: Errno?
        /// Whether the loop watches for the next event, or one was posted that the app has not answered by a read or write.
        var isArmed = false
    }

    let socket: StreamSocket
    let events = RunLoopEvents()
    private let direction: SocketCore.Direction
    private let state = Locked(State())

    /// The direction of a stream, not open.
    init(_ socket: StreamSocket, _ direction: SocketCore.Direction) {
        self.socket = socket
        self.direction = direction
    }

    /// The status of the stream.
    var status: Stream.Status { state.withLock { $0.status } }

    /// Why it failed.
    var error: (any Error)? {
        state.withLock { $0.error }.map { error in
            NSError(
                domain: NSPOSIXErrorDomain, code: Int(error.rawValue),
                userInfo: [NSLocalizedDescriptionKey: "the continuation stream has failed: \(error)"])
        }
    }

    /// Opens it; nothing the second time.
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

    /// Closes it.
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

    /// Whether bytes may move.
    var isUsable: Bool { state.withLock { $0.status == .open } }

    /// Watches for the next event, while it is open and scheduled.
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

    /// The app has read or written: another event may come.
    func disarm() { state.withLock { $0.isArmed = false } }

    /// A direction ended.
    func end() {
        let isFirst = state.withLock { state in
            guard state.status == .open else { return false }
            state.status = .atEnd
            return true
        }
        if isFirst { events.post(.endEncountered) { [weak self] in self?.status == .atEnd } }
    }

    /// The connection failed.
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
