import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import LoopIO

/// The activities and their owners, for who hands them over. On the daemon's loop.
protocol PayloadServiceDelegate: AnyObject {
    /// What the other devices call this one.
    var deviceName: String { get }
    /// The activity on offer under an id.
    func offered(_ offer: ActivityID) -> PublishedActivity?
    /// The same, if the device may know of it.
    func offered(_ offer: ActivityID, to device: DeviceID) -> PublishedActivity?
    /// The activity by its owner's handle, on offer or not.
    func activity(_ id: ActivityID) -> PublishedActivity?
    /// Asks the owner of an activity to save where it has news; returns whether an answer is now awaited.
    func askToSave(_ activity: PublishedActivity) -> Bool
    /// The app that an activity belongs to.
    func owner(_ session: SessionID) -> AppSession?
    /// No answer came in time.
    func saveTimedOut(_ id: ActivityID)
}

/// Serves the payloads of this device's activities to the devices that continue them. Lives on the daemon's loop.
///
/// An owner with news is asked to save first, and has a second to answer; then its last saved state is sent. See
/// `docs/state-machines/activity.md`.
final class PayloadService {
    private struct Waiting {
        let offer: ActivityID
        let device: DeviceID
        let completion: (Result<Payload, HandoffFailure>) -> Void
    }

    private let loop: EventLoop
    /// How long an owner may take to answer a save request, from the next one on.
    var saveAnswerTime: Duration
    private unowned let delegate: any PayloadServiceDelegate
    private var waiting: [ActivityID: [Waiting]] = [:]
    private var timers: [ActivityID: LoopTimer] = [:]
    /// Which devices fetched which offer: only they may say that they continued it, and ask for streams.
    private var fetched: [ActivityID: Fetched] = [:]

    private struct Fetched {
        /// The activity by its owner's handle: an offer ends when the user turns to something else, streams do not.
        let activity: ActivityID
        var devices: Set<DeviceID> = []
    }

    /// Offers with records, of which those that are over are forgotten first.
    private static let maxRecords = 4096

    init(loop: EventLoop, saveAnswerTime: Duration, delegate: any PayloadServiceDelegate) {
        self.loop = loop
        self.saveAnswerTime = saveAnswerTime
        self.delegate = delegate
    }

    /// A device asks for the payload of an offer; `completion` is called exactly once.
    func serve(
        _ offer: ActivityID, to device: DeviceID, completion: @escaping (Result<Payload, HandoffFailure>) -> Void
    ) {
        guard let activity = delegate.offered(offer, to: device) else {
            return completion(.failure(.unknownActivity(device: delegate.deviceName)))
        }
        // One fetch at a time: a device that asks again has lost the connection over which it asked before.
        if let index = waiting[activity.id]?.firstIndex(where: { $0.device == device }),
            let former = waiting[activity.id]?.remove(at: index)
        {
            former.completion(
                .failure(.rejected(device: delegate.deviceName, cause: "the activity was asked for again")))
        }
        let entry = Waiting(offer: offer, device: device, completion: completion)
        guard delegate.askToSave(activity) else { return finish(entry, activity) }
        waiting[activity.id, default: []].append(entry)
        awaitSave(of: activity.id)
    }

    /// The owner was asked to save, for whatever reason: it has a second to answer.
    func awaitSave(of id: ActivityID) {
        guard timers[id] == nil else { return }
        timers[id] = loop.timer(after: saveAnswerTime) { [self] in
            delegate.saveTimedOut(id)
            saveEnded(id)
        }
    }

    /// The owner answered, or its time is over: who waits gets the state as it is now.
    func saveEnded(_ id: ActivityID) {
        timers.removeValue(forKey: id)?.cancel()
        for entry in waiting.removeValue(forKey: id) ?? [] {
            guard let activity = delegate.offered(entry.offer) else {
                entry.completion(.failure(.ownerGone(device: delegate.deviceName)))
                continue
            }
            finish(entry, activity)
        }
    }

    /// Offers that are no longer: their records go, and who still waits for them learns that the owner is gone.
    func withdrawn(_ id: ActivityID) {
        saveEnded(id)
    }

    /// Whether `device` has fetched `offer`, and so may say that it continued it.
    func hasFetched(_ offer: ActivityID, _ device: DeviceID) -> Bool {
        fetched[offer]?.devices.contains(device) ?? false
    }

    /// The activity that `device` fetched as `offer`; nil once its owner has ended it, though not when it is merely no
    /// longer on offer.
    func activity(fetchedAs offer: ActivityID, by device: DeviceID) -> PublishedActivity? {
        guard let record = fetched[offer], record.devices.contains(device) else { return nil }
        return delegate.activity(record.activity)
    }

    /// Forgets who fetched activities that are no longer; what is on offer has changed.
    func reviewRecords() {
        fetched = fetched.filter { delegate.activity($0.value.activity) != nil }
        guard fetched.count > Self.maxRecords else { return }
        fetched = fetched.filter { delegate.offered($0.key) != nil }
    }

    private func finish(_ entry: Waiting, _ activity: PublishedActivity) {
        let owner = delegate.owner(activity.session)
        fetched[entry.offer, default: Fetched(activity: activity.id)].devices.insert(entry.device)
        entry.completion(
            .success(
                Payload(
                    content: activity.content, origin: PayloadOrigin(app: owner?.app, appVersion: owner?.version))))
    }
}
