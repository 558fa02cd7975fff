import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import Timing

/// The devices that are played, and what goes on between them. On the loop's thread.
final class PlayedNetwork {
    /// Somebody who waits until something is offered.
    private struct Waiter {
        let number: Int
        /// Takes what it waits for.
        /// - Returns: whether it was there.
        let look: () -> Bool
        let timer: LoopTimer
    }

    unowned let loop: EventLoop
    /// What was handed over, in its order.
    private(set) var steps: [LoopbackRecording.Step] = []
    private var devices: [String: PlayedDevice] = [:]
    private var continuations: [ContinuationID: PlayedContinuation] = [:]
    private var streams: [StreamID: PlayedStream] = [:]
    private var waiters: [Waiter] = []
    private var lastNumber = 0
    private var lastStep: MonotonicInstant?
    private var isDue = false

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// The device of a name, which is made at the first time and listens.
    func device(_ name: String, in folder: String) throws(SocketFileError) -> PlayedDevice {
        if let device = devices[name] { return device }
        let device = PlayedDevice(name, path: "\(folder)/\(devices.count + 1).socket", network: self)
        try device.start()
        devices[name] = device
        return device
    }

    /// Ends everything.
    func end() {
        for device in devices.values { device.stop() }
        devices = [:]
        waiters = []
        continuations = [:]
    }

    // MARK: Offers

    /// What the other devices offer to one.
    func offers(at device: PlayedDevice) -> [PlayedOffer] {
        guard !device.isCut else { return [] }
        return devices.values.filter { $0 !== device }.sorted { $0.name < $1.name }.flatMap(\.offers)
    }

    /// Something has changed: whoever waits looks again, in a later turn.
    func changed() {
        guard !isDue, !waiters.isEmpty else { return }
        isDue = true
        loop.later { [weak self] in self?.look() }
    }

    /// Waits until something is there.
    /// - Parameters:
    ///   - look: takes it, and says whether it was there.
    ///   - timedOut: is called instead when it is not there in time.
    func wait(_ limit: Duration, for look: @escaping () -> Bool, timedOut: @escaping () -> Void) {
        guard !look() else { return }
        lastNumber += 1
        let number = lastNumber
        let timer = loop.timer(after: limit) { [weak self] in
            self?.waiters.removeAll { $0.number == number }
            timedOut()
        }
        waiters.append(Waiter(number: number, look: look, timer: timer))
    }

    private func look() {
        isDue = false
        for waiter in waiters where waiter.look() { waiters.removeAll { $0.number == waiter.number } }
    }

    // MARK: Continuing

    /// Begins a continuation.
    func begin(_ continuation: PlayedContinuation) {
        continuations[continuation.id] = continuation
        continuation.begin()
    }

    /// An app has gone.
    func ended(_ session: PlayedSession) {
        for continuation in continuations.values {
            if continuation.session === session { continuation.lostSession() }
            if continuation.offer.session === session {
                continuation.fail(.ownerGone(device: continuation.offer.device.name))
            }
        }
        for stream in streams.values {
            let continuation = stream.continuation
            if continuation.session === session || continuation.offer.session === session { stream.end() }
        }
    }

    /// A stream is over.
    func ended(_ stream: PlayedStream) {
        streams[stream.id] = nil
    }

    /// What is on its way from or to a device does not come.
    func breakContinuations(with device: PlayedDevice) {
        for continuation in continuations.values
        where continuation.device === device || continuation.offer.device === device {
            continuation.fail(
                .peerUnreachable(device: continuation.offer.device.name, cause: "the connection was lost"))
        }
    }

    /// Notes what was handed over.
    func record(_ content: ActivityContent, from origin: PlayedDevice, to device: PlayedDevice) {
        let now = loop.now
        let pause = lastStep.map { $0.duration(to: now) } ?? .zero
        lastStep = now
        steps.append(
            LoopbackRecording.Step(
                after: pause, from: origin.name, to: device.name, activity: LoopbackActivity(content)))
    }

    // MARK: Streams

    /// An app asks for a stream, or takes one.
    func openStream(_ request: OpenStreamRequest, _ call: PlayedCall, at device: PlayedDevice) {
        switch request {
        case .stream(let id):
            guard let stream = streams[id], stream.continuation.offer.device === device else {
                return call.fail(AppErrorName.noSuchStream.rawValue, ["stream": .string(id.hex)])
            }
            stream.take(call)
        case .continuation(let id, let resource):
            do throws(HandoffFailure) {
                try askForStream(id, resource, call, at: device)
            } catch {
                call.fail(
                    AppErrorName.streamFailed.rawValue,
                    [
                        "code": .integer(Int64(error.code)), "reason": .string(error.reason),
                        "message": .string(error.message),
                    ])
            }
        }
    }

    private func askForStream(
        _ id: ContinuationID, _ resource: StreamResource?, _ call: PlayedCall, at device: PlayedDevice
    ) throws(HandoffFailure) {
        guard let continuation = continuations[id], continuation.device === device else {
            throw HandoffFailure.notContinued
        }
        let offer = continuation.offer
        guard !device.isCut, !offer.device.isCut else {
            throw HandoffFailure.peerUnreachable(device: offer.device.name, cause: "the connection was lost")
        }
        guard let session = offer.session, let activity = session.activities[offer.id] else {
            throw HandoffFailure.ownerGone(device: offer.device.name)
        }
        guard activity.content.supportsStreams else {
            throw HandoffFailure.streamsUnsupported(device: offer.device.name)
        }
        let stream = PlayedStream(call, of: continuation, network: self)
        streams[stream.id] = stream
        session.tell(
            .stream(offer.id, stream.id, from: device.origin(of: continuation.session), resource: resource))
    }

    /// The streams of a device break.
    func breakStreams(of device: PlayedDevice) {
        for stream in streams.values
        where stream.continuation.device === device || stream.continuation.offer.device === device {
            stream.end()
        }
    }
}
