import HandoffControl
import LoopIO

/// The server that a connection belongs to. On the loop's thread.
protocol DesktopConnectionDelegate: AnyObject {
    /// Serves a call; its answer may come later.
    func serve(_ call: DesktopCall)
    /// The connection has ended; said once.
    func ended(_ connection: DesktopConnection, _ reason: VarlinkServerMachine.Reason)
}

/// One connection to the socket: performs what its `VarlinkServerMachine` asks for. On the loop's thread.
///
/// A client that sends more calls than are served, or does not read its answers, is no daemon of ours: its connection is ended.
final class DesktopConnection {
    /// The most bytes that wait for the client: two of the longest messages.
    private static let maxWaiting = 2 * VarlinkFramer.maxMessage

    private let stream: ByteStream
    /// Nil once the connection has ended.
    private weak var delegate: (any DesktopConnectionDelegate)?
    private var machine = VarlinkServerMachine()
    /// What is still to be done: a handler may answer while an action is performed, and what follows comes after.
    private var actions: [VarlinkServerMachine.Action] = []
    private var isPerforming = false
    private var open: DesktopCall?

    /// Takes over a connected socket.
    init(
        _ descriptor: consuming Descriptor, on loop: EventLoop, delegate: any DesktopConnectionDelegate
    ) throws(Errno) {
        self.delegate = delegate
        stream = try ByteStream(descriptor, on: loop)
        // Nobody passes anything here; what comes all the same is closed without waiting.
        stream.onPassed = { _ in }
        stream.onError = { [weak self] _ in self?.perform { $0.lost() } }
        stream.onEnd = { [weak self] in
            guard let self else { return }
            // Whoever follows something has nothing else to wait for.
            let follows = open?.call.more ?? false
            perform { follows ? $0.lost() : $0.receivedEnd() }
        }
        stream.onRead = { [weak self] bytes in
            guard let self else { return }
            perform { $0.received(bytes) }
            if machine.outstanding >= VarlinkServerMachine.maxOutstanding { perform { $0.end() } }
        }
    }

    /// Ends it after what was answered so far.
    func end() {
        perform { $0.end() }
    }

    /// Does what follows from an event.
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
            delegate?.serve(call)
        case .send(let bytes):
            stream.write(bytes)
            if stream.pendingWriteBytes > Self.maxWaiting { actions += machine.lost() }
        case .abandon:
            open?.abandon()
            open = nil
        case .upgrade:
            // No method answers so.
            actions += machine.end()
        case .close(let reason): close(reason)
        }
    }

    private func close(_ reason: VarlinkServerMachine.Reason) {
        if case .connectionLost = reason { stream.close() } else { stream.finish() }
        let delegate = self.delegate
        self.delegate = nil
        delegate?.ended(self, reason)
    }
}
