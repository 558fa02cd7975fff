import HandoffControl
import HandoffModel
import LoopIO

/// A continuation between two simulated devices. On the loop's thread.
final class SimulatedContinuation {
    /// Receives the result: the activity that was sent, or the failure.
    typealias Ending = (Result<ContinuedActivity, HandoffFailure>) -> Void

    let id = ContinuationID.random
    let offer: SimulatedOffer
    let device: SimulatedDevice
    /// The app that continues the activity; nil for the test itself.
    private(set) var session: SimulatedSession?
    private let network: SimulatedNetwork
    private var timer: LoopTimer?
    private var ending: Ending?

    init(
        _ offer: SimulatedOffer, at device: SimulatedDevice, by session: SimulatedSession?, network: SimulatedNetwork,
        _ ending: @escaping Ending
    ) {
        self.offer = offer
        self.device = device
        self.session = session
        self.network = network
        self.ending = ending
    }

    var isRunning: Bool { ending != nil }

    func begin() {
        let origin = offer.device.origin(of: offer.session)
        session?.send(.willContinue(id, offer.content.type, origin))
        if let failure = refusal { return fail(failure) }
        // Set even without a delay, so that subsequent events occur in a later turn.
        timer = network.loop.timer(after: offer.device.delay) { [weak self] in self?.fetch() }
    }

    /// Ends the continuation with a failure, if it has not ended.
    func fail(_ failure: HandoffFailure) {
        guard isRunning else { return }
        session?.send(.didFail(id, offer.content.type, failure))
        end(.failure(failure))
    }

    func lostSession() {
        guard isRunning else { return }
        let name = session?.request.app ?? device.name
        session = nil
        end(.failure(.handlerGone(app: name)))
    }

    /// A failure that occurs before anything is sent.
    private var refusal: HandoffFailure? {
        if !offer.device.failures.isEmpty { return offer.device.failures.removeFirst() }
        guard let session, let range = TypeVersions.ranges(session.request.versions)[offer.content.type] else {
            return nil
        }
        let version = offer.session?.request.version
        return range.contains(version) ? nil : .otherVersion(version, device: offer.device.name, takes: range)
    }

    private func fetch() {
        timer = nil
        offer.device.payload(of: offer) { [weak self] result in
            guard let self, isRunning else { return }
            switch result {
            case .failure(let failure): fail(failure)
            case .success(let content): arrived(content)
            }
        }
    }

    private func arrived(_ content: ActivityContent) {
        let missing = content.missingRequiredKeys
        guard missing.isEmpty else { return fail(.requiredKeysMissing(missing, device: offer.device.name)) }
        let continued = ContinuedActivity(
            id: offer.id, content: content, origin: offer.device.origin(of: offer.session))
        network.record(content, from: offer.device, to: device)
        guard let session else { return accepted(continued) }
        session.deliver(id, continued) { [weak self] handled in
            guard let self, isRunning else { return }
            switch handled {
            case true?: accepted(continued)
            case false?: end(.failure(.handlerRefused(app: session.request.app)))
            case nil: lostSession()
            }
        }
    }

    private func accepted(_ continued: ContinuedActivity) {
        offer.session?.send(.continued(offer.id, by: device.origin(of: session)))
        end(.success(continued))
    }

    private func end(_ result: Result<ContinuedActivity, HandoffFailure>) {
        timer = nil
        let ending = ending
        self.ending = nil
        ending?(result)
    }
}
