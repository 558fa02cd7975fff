import HandoffControl
import HandoffControlServer
import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffStreams
import HandoffTransport
import LoopIO
import Timing

/// One stream that an app here opens to the origin of an activity: a ticket, and a call; once more, if the origin does not take
/// it and the app has sent nothing. Lives on the daemon's loop.
final class StreamOpening {
    /// How long it may take in all.
    private static let timeout = Duration.seconds(20)
    /// How soon it is tried again, and until when: a device that has just joined, or has a new label, is found a moment later.
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
    /// When its first turn came: what waits behind others may still be tried as often as they.
    private var begun: MonotonicInstant?
    /// The stream that the app has already, with the app's end and why it was not taken; nil while the call waits.
    private var untaken: (id: StreamID, socket: HandedDescriptor, cause: String)?
    /// Told once, when it has come to an end of either kind.
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

    /// The stream was not taken: begins anew.
    func again(_ id: StreamID, _ socket: HandedDescriptor, _ cause: String) {
        untaken = (id, socket, cause)
        isOver = false
    }

    /// Begins; `completion` is called once, when its place can go to another one.
    func begin(_ completion: @escaping () -> Void) {
        onEnd = completion
        guard !isOver else { return end() }
        call.onClosed = { [weak self] in self?.end() }
        // Its client may have gone while it waited for its turn.
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
                if isShown { untaken = nil } else { tell(.tooManyStreams(device: service.name(device))) }
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

    /// Gives it up, with this reason.
    func fail(_ failure: HandoffFailure) {
        guard !isOver else { return }
        end()
        tell(failure)
    }

    private func tell(_ failure: HandoffFailure) {
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

/// The streams that are being opened: a few to each device at a time, the others in their order.
struct OpeningQueue {
    /// At a time to one device.
    static let maxAtOnce = 12
    /// What may wait for one device.
    static let maxWaiting = 1024

    private var running: [DeviceID: [ObjectIdentifier: StreamOpening]] = [:]
    private var waiting: [DeviceID: [StreamOpening]] = [:]

    /// Whether one more may wait.
    func hasRoom(for device: DeviceID) -> Bool {
        waiting[device, default: []].count < Self.maxWaiting
    }

    /// Adds one at the end.
    mutating func add(_ opening: StreamOpening) {
        waiting[opening.device, default: []].append(opening)
    }

    /// The next one that may begin now; it counts as running from here on.
    mutating func next(for device: DeviceID) -> StreamOpening? {
        guard running[device, default: [:]].count < Self.maxAtOnce, waiting[device]?.isEmpty == false,
            let opening = waiting[device]?.removeFirst()
        else { return nil }
        if waiting[device]?.isEmpty ?? false { waiting[device] = nil }
        running[device, default: [:]][ObjectIdentifier(opening)] = opening
        return opening
    }

    /// One has come to its end.
    mutating func ended(_ opening: StreamOpening) {
        running[opening.device]?[ObjectIdentifier(opening)] = nil
        if running[opening.device]?.isEmpty ?? false { running[opening.device] = nil }
    }

    /// All that are not open yet, to the devices that are meant.
    func all(where isMeant: (DeviceID) -> Bool) -> [StreamOpening] {
        running.filter { isMeant($0.key) }.flatMap { $0.value.values }
            + waiting.filter { isMeant($0.key) }.flatMap(\.value)
    }
}
