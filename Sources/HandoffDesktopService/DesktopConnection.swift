import HandoffControl
import LoopIO

/// A connection to the socket that performs the actions of its `VarlinkServerMachine`. Use on the
/// loop's thread.
///
/// Closes a client that sends too many calls or does not read its replies: handoffd does neither.
final class DesktopConnection {
    /// The maximum number of bytes queued for the client: two messages of maximum length.
    private static let maxWaiting = 2 * VarlinkFramer.maxMessage

    private let stream: ByteStream
    /// Nil once the connection has ended.
    private weak var server: DesktopServer?
    private var machine = VarlinkServerMachine()
    /// Pending actions. A handler may reply while an action is performed; the resulting actions are
    /// queued here.
    private var actions: [VarlinkServerMachine.Action] = []
    private var isPerforming = false
    private var open: DesktopCall?

    /// Takes ownership of a connected socket.
    init(_ descriptor: consuming Descriptor, on loop: EventLoop, server: DesktopServer) throws(Errno) {
        self.server = server
        stream = try ByteStream(descriptor, on: loop)
        // Clients have no reason to pass descriptors. Any that arrive are closed without blocking.
        stream.onPassed = { _ in }
        stream.onError = { [weak self] _ in self?.perform { $0.lost() } }
        stream.onEnd = { [weak self] in
            guard let self else { return }
            // A client that follows something expects no other reply.
            let follows = open?.call.more ?? false
            perform { follows ? $0.lost() : $0.receivedEnd() }
        }
        stream.onRead = { [weak self] bytes in
            guard let self else { return }
            perform { $0.received(bytes) }
            if machine.outstanding >= VarlinkServerMachine.maxOutstanding { perform { $0.end() } }
        }
    }

    /// Ends the connection after the pending replies.
    func end() {
        perform { $0.end() }
    }

    /// Performs the actions that result from an event.
    func perform(_ step: (inout VarlinkServerMachine) -> [VarlinkServerMachine.Action]) {
        actions += step(&machine)
        guard !isPerforming else { return }
        isPerforming = true
        while !actions.isEmpty { perform(actions.removeFirst()) }
        isPerforming = false
    }

    private func perform(_ action: VarlinkServerMachine.Action) {
        switch action {
        case .dispatch(let call, let id):
            let call = DesktopCall(call, id, of: self)
            open = call
            server?.serve(call)
        case .send(let bytes):
            stream.write(bytes)
            if stream.pendingWriteBytes > Self.maxWaiting { actions += machine.lost() }
        case .abandon:
            open?.abandon()
            open = nil
        case .upgrade:
            // Upgrades are not supported by any method.
            actions += machine.end()
        case .close(let reason): close(reason)
        }
    }

    private func close(_ reason: VarlinkServerMachine.Reason) {
        if case .connectionLost = reason { stream.close() } else { stream.finish() }
        let server = self.server
        self.server = nil
        server?.ended(self, reason)
    }
}
