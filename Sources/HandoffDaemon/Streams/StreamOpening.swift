import HandoffControl
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffStreams
import HandoffTransport
import LoopIO

/// One stream that a local app opens to the origin of an activity: a ticket, and a connection. If
/// the origin does not accept it and the app has sent nothing, it is tried once more. Lives on the
/// daemon's loop.
final class StreamOpening {
    /// The maximum time in all.
    private static let timeout = Duration.seconds(20)
    /// The delay between attempts, and the time in which they are made. A device that has just
    /// joined, or has a new label, is found a moment later.
    private static let pause = Duration.milliseconds(50)
    private static let trying = Duration.seconds(5)
    private static let unreachable = HandoffFailure.peerUnreachable(device: "", cause: "").reason

    /// The app's call.
    let call: ControlCall
    /// The origin.
    let device: DeviceID
    /// The app's attachment; nil for a command.
    let session: SessionID?
    private let activity: ActivityID
    private let resource: StreamResource?
    private unowned let service: StreamService
    /// The time of its first start. Time in the queue does not reduce the number of attempts.
    private var begun: MonotonicInstant?
    /// The existing stream with the app's socket and the cause if the origin has not accepted it;
    /// nil while the call waits.
    private var untaken: (id: StreamID, socket: HandedDescriptor, cause: String)?
    /// Called once when the opening ends, after success or failure.
    private var onEnd: (() -> Void)?
    private var isOver = false
    private var ticket: FetchHandle?
    private var dial: Dial?
    private var retry: LoopTimer?
    private var deadline: LoopTimer?

    init(
        _ call: ControlCall, _ continued: StreamRegistry.Continued, _ resource: StreamResource?, service: StreamService
    ) {
        self.call = call
        device = continued.device
        session = continued.session
        activity = continued.activity
        self.resource = resource
        self.service = service
    }

    /// Resets the opening after its stream was not accepted.
    func again(_ id: StreamID, _ socket: HandedDescriptor, _ cause: String) {
        untaken = (id, socket, cause)
        isOver = false
    }

    /// Starts the opening. `completion` is called once, when another opening can start.
    func begin(_ completion: @escaping () -> Void) {
        onEnd = completion
        guard !isOver else { return end() }
        call.onClosed = { [weak self] in self?.end() }
        // The client may have disconnected while the opening was queued.
        guard !isOver else { return }
        begun = begun ?? service.loop.now
        deadline = service.loop.timer(after: Self.timeout) { [weak self] in
            guard let self else { return }
            fail(.timedOut(device: service.name(device)))
        }
        guard let untaken else { return ask() }
        tryAgain(.peerUnreachable(device: service.name(device), cause: untaken.cause)) { $0.ask() }
    }

    private func ask() {
        ticket = service.peers.requestStreamTicket(for: activity, resource, from: device) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let ticket): connect(ticket)
            case .failure(let failure) where failure.reason == Self.unreachable: tryAgain(failure) { $0.ask() }
            case .failure(let failure): fail(failure)
            }
        }
    }

    private func connect(_ ticket: [UInt8]) {
        dial = service.peers.openStream(to: device) { [weak self] result in
            guard let self else { return }
            dial = nil
            switch result {
            case .success(let channel):
                end()
                let isShown =
                    untaken.map { service.show(ticket, over: channel, again: $0.id, $0.socket) }
                    ?? service.show(ticket, over: channel, for: self)
                if isShown { untaken = nil } else { report(.tooManyStreams(device: service.name(device))) }
            case .failure(let failure): tryAgain(failure) { $0.connect(ticket) }
            }
        }
        if dial == nil {
            let cause = "no address of it is known"
            tryAgain(.peerUnreachable(device: service.name(device), cause: cause)) { $0.connect(ticket) }
        }
    }

    private func tryAgain(_ failure: HandoffFailure, _ step: @escaping (StreamOpening) -> Void) {
        guard let begun, begun.duration(to: service.loop.now) < Self.trying else { return fail(failure) }
        retry = service.loop.timer(after: Self.pause) { [weak self] in
            guard let self else { return }
            step(self)
        }
        if retry == nil { fail(failure) }
    }

    /// Ends the opening with this failure.
    func fail(_ failure: HandoffFailure) {
        guard !isOver else { return }
        end()
        report(failure)
    }

    private func report(_ failure: HandoffFailure) {
        guard let untaken else { return call.fail(CallError.streamFailed(failure)) }
        self.untaken = nil
        service.notReopened(untaken.id, failure)
    }

    private func end() {
        isOver = true
        ticket?.cancel()
        ticket = nil
        dial = nil
        retry = nil
        deadline = nil
        call.onClosed = nil
        let completion = onEnd
        onEnd = nil
        completion?()
    }
}
