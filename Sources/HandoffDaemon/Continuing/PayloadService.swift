import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import LoopIO

/// Provides the activities and their owners to `PayloadService`. On the daemon's loop.
protocol PayloadServiceDelegate: AnyObject {
    /// The name of this device in the account.
    var deviceName: String { get }
    /// Returns the activity on offer under an id.
    func offered(_ offer: ActivityID) -> PublishedActivity?
    /// Returns the activity on offer under an id if it is visible to the device.
    func offered(_ offer: ActivityID, to device: DeviceID) -> PublishedActivity?
    /// Returns the activity with its owner's handle, on offer or not.
    func activity(_ id: ActivityID) -> PublishedActivity?
    /// Requests a save from the owner if the activity has unsaved changes. Returns whether an
    /// answer is pending.
    func requestSave(_ activity: PublishedActivity) -> Bool
    /// Returns the app that owns an activity.
    func owner(_ session: SessionID) -> AppSession?
    /// The owner has not answered in time.
    func saveTimedOut(_ id: ActivityID)
}

/// Serves the payloads of local activities to the devices that continue them. Lives on the daemon's
/// loop.
///
/// A request for an activity is answered
///
/// - with `unknownActivity` if the id is not offered,
/// - with `rejected` if the device already waits for the same activity,
/// - immediately with the payload if the activity has no unsaved changes, or its owner accepts no
///   requests (`Publish` without a session),
/// - otherwise with the payload after the owner's answer to a save request, or after 1 s with the
///   last saved state. `ActivityStore` has the states of such a request,
/// - with `ownerGone` if the activity is withdrawn in the meantime,
/// - with `requiredKeysMissing` if the payload lacks a required key.
final class PayloadService {
    private struct Waiting {
        let offer: ActivityID
        let device: DeviceID
        let completion: (Result<Payload, HandoffFailure>) -> Void
    }

    private let loop: EventLoop
    /// The timeout of the next save requests.
    var saveAnswerTime: Duration
    private unowned let delegate: any PayloadServiceDelegate
    private var waiting: [ActivityID: [Waiting]] = [:]
    private var timers: [ActivityID: LoopTimer] = [:]
    /// The devices that have fetched each offer. Only these may report that they continued it, and
    /// request streams.
    private var fetched: [ActivityID: Fetched] = [:]

    private struct Fetched {
        /// The owner's handle of the activity. Streams can outlast the offer, which ends when the
        /// user changes to another activity.
        let activity: ActivityID
        var devices: Set<DeviceID> = []
    }

    /// The maximum number of offers with records. Above it, records of withdrawn offers are
    /// removed.
    private static let maxRecords = 4096

    init(loop: EventLoop, saveAnswerTime: Duration, delegate: any PayloadServiceDelegate) {
        self.loop = loop
        self.saveAnswerTime = saveAnswerTime
        self.delegate = delegate
    }

    /// Serves a device's request for the payload of an offer. Calls `completion` exactly once.
    func serve(
        _ offer: ActivityID, to device: DeviceID, completion: @escaping (Result<Payload, HandoffFailure>) -> Void
    ) {
        guard let activity = delegate.offered(offer, to: device) else {
            return completion(.failure(.unknownActivity(device: delegate.deviceName)))
        }
        // One fetch at a time: a device that repeats the request has lost its previous connection.
        if let index = waiting[activity.id]?.firstIndex(where: { $0.device == device }),
            let former = waiting[activity.id]?.remove(at: index)
        {
            former.completion(
                .failure(.rejected(device: delegate.deviceName, cause: "the activity was requested again")))
        }
        let entry = Waiting(offer: offer, device: device, completion: completion)
        guard delegate.requestSave(activity) else { return finish(entry, activity) }
        waiting[activity.id, default: []].append(entry)
        awaitSave(of: activity.id)
    }

    /// Starts the timeout after the owner was asked to save, for whatever reason.
    func awaitSave(of id: ActivityID) {
        guard timers[id] == nil else { return }
        timers[id] = loop.timer(after: saveAnswerTime) { [self] in
            delegate.saveTimedOut(id)
            saveEnded(id)
        }
    }

    /// Handles the owner's answer or its timeout. Waiting devices receive the current state.
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

    /// Returns whether `device` has fetched `offer`, and so may report that it continued it.
    func hasFetched(_ offer: ActivityID, _ device: DeviceID) -> Bool {
        fetched[offer]?.devices.contains(device) ?? false
    }

    /// Returns the activity that `device` fetched as `offer`; nil once its owner has ended it, but
    /// not if it is merely no longer on offer.
    func activity(fetchedAs offer: ActivityID, by device: DeviceID) -> PublishedActivity? {
        guard let record = fetched[offer], record.devices.contains(device) else { return nil }
        return delegate.activity(record.activity)
    }

    /// Removes the records of activities that have ended. Called when the local offers change.
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
