import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// The simulated devices, and their interaction. On the loop's thread.
final class SimulatedNetwork {
    /// A waiter for an offer or an app.
    private struct Waiter {
        let number: Int
        /// Checks for the awaited object and uses it.
        /// - Returns: whether it was found.
        let check: () -> Bool
        let timer: LoopTimer
    }

    unowned let loop: EventLoop
    /// The activities that were handed over, in order.
    private(set) var steps: [LoopbackRecording.Step] = []
    private var devices: [String: SimulatedDevice] = [:]
    private var continuations: [ContinuationID: SimulatedContinuation] = [:]
    private var streams: [StreamID: SimulatedStream] = [:]
    private var waiters: [Waiter] = []
    private var lastNumber = 0
    private var lastStep: MonotonicInstant?
    private var isDue = false

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Returns the device with this name, which listens. Creates it on first use.
    func device(_ name: String, in folder: String) throws(SocketFileError) -> SimulatedDevice {
        if let device = devices[name] { return device }
        let device = SimulatedDevice(name, path: "\(folder)/\(devices.count + 1).socket", network: self)
        try device.start()
        devices[name] = device
        return device
    }

    func end() {
        for device in devices.values { device.stop() }
        devices = [:]
        waiters = []
        continuations = [:]
    }

    // MARK: Offers

    /// Returns the offers of all other devices.
    func offers(at device: SimulatedDevice) -> [SimulatedOffer] {
        guard !device.isCut else { return [] }
        return devices.values.filter { $0 !== device }.sorted { $0.name < $1.name }.flatMap(\.offers)
    }

    /// Makes all waiters check again, in a later turn.
    func changed() {
        guard !isDue, !waiters.isEmpty else { return }
        isDue = true
        loop.later { [weak self] in self?.checkWaiters() }
    }

    /// Waits until `check` succeeds.
    /// - Parameters:
    ///   - check: uses the awaited object, and returns whether it was found.
    ///   - timedOut: called instead if it is not found in time.
    func wait(_ limit: Duration, for check: @escaping () -> Bool, timedOut: @escaping () -> Void) {
        guard !check() else { return }
        lastNumber += 1
        let number = lastNumber
        let timer = loop.timer(after: limit) { [weak self] in
            self?.waiters.removeAll { $0.number == number }
            timedOut()
        }
        waiters.append(Waiter(number: number, check: check, timer: timer))
    }

    private func checkWaiters() {
        isDue = false
        for waiter in waiters where waiter.check() { waiters.removeAll { $0.number == waiter.number } }
    }

    // MARK: Continuing

    func begin(_ continuation: SimulatedContinuation) {
        continuations[continuation.id] = continuation
        continuation.begin()
    }

    func ended(_ session: SimulatedSession) {
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

    func ended(_ stream: SimulatedStream) {
        streams[stream.id] = nil
    }

    /// Fails the transfers from and to a device.
    func breakContinuations(with device: SimulatedDevice) {
        for continuation in continuations.values
        where continuation.device === device || continuation.offer.device === device {
            continuation.fail(
                .peerUnreachable(device: continuation.offer.device.name, cause: "the connection was lost"))
        }
    }

    func record(_ content: ActivityContent, from origin: SimulatedDevice, to device: SimulatedDevice) {
        let now = loop.now
        let pause = lastStep.map { $0.duration(to: now) } ?? .zero
        lastStep = now
        steps.append(
            LoopbackRecording.Step(
                after: pause, from: origin.name, to: device.name, activity: LoopbackActivity(content)))
    }

    // MARK: Streams

    /// Handles an app's request for a stream, or its acceptance of one.
    func openStream(_ request: OpenStreamRequest, _ call: SimulatedCall, at device: SimulatedDevice) {
        switch request {
        case .stream(let id):
            guard let stream = streams[id], stream.continuation.offer.device === device else {
                return call.fail(AppErrorName.noSuchStream.rawValue, ["stream": .string(id.hex)])
            }
            stream.take(call)
        case .continuation(let id, let resource):
            do throws(HandoffFailure) {
                try requestStream(id, resource, call, at: device)
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

    private func requestStream(
        _ id: ContinuationID, _ resource: StreamResource?, _ call: SimulatedCall, at device: SimulatedDevice
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
        let stream = SimulatedStream(call, of: continuation, network: self)
        streams[stream.id] = stream
        session.send(
            .stream(offer.id, stream.id, from: device.origin(of: continuation.session), resource: resource))
    }

    func breakStreams(of device: SimulatedDevice) {
        for stream in streams.values
        where stream.continuation.device === device || stream.continuation.offer.device === device {
            stream.end()
        }
    }
}
