import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// Hands local activities over to the devices that continue them. Answers the requests of the other
/// devices for payloads and stream tickets, and handles their notices. Lives on the daemon's loop.
///
/// A request for an activity is answered
///
/// - with `unknownActivity` if the id is not offered to the device,
/// - with `paused` if advertising to the device or of the activity's type is not allowed,
/// - immediately with the payload if the activity has no unsaved changes, or its owner accepts no
///   requests (`Publish` without a session),
/// - otherwise with the payload after the owner's answer to a save request (`AppService.save`), or
///   after the save timeout (`save-answer`, 1 s by default) with the last saved state,
/// - with `ownerGone` if the activity is no longer on offer by then,
/// - with `otherVersion`, `requiredKeysMissing` or `tooLarge` if the payload must not be sent.
///
/// A second request of a device for the same activity replaces the first, which is answered with
/// `rejected`. `ActivityStore` has the states of a save request.
final class HandoverService {
    /// Sends the response to a request; called exactly once.
    typealias Response = (PeerResponse.Outcome) -> Void

    /// A device that waits for the owner of an activity to save it.
    private struct Receiver: Hashable {
        let activity: ActivityID
        let device: DeviceID
    }

    /// The devices that received an offered activity. Only these may report that they continued it,
    /// and request streams.
    private struct Handover {
        /// The owner's handle of the activity. Streams can outlast the offer, which ends when the
        /// user changes to another activity.
        let activity: ActivityID
        var devices: Set<DeviceID> = []
        /// The device that continued it last, and when, in seconds since 1970.
        var last: (device: DeviceID, time: Double)?
    }

    /// The maximum number of offers with records. Above it, records of withdrawn offers are
    /// removed.
    private static let maxRecords = 4096

    private let log: Logger
    /// The name of this device in failures.
    private var name: String { accountStore.snapshot.label(of: accountStore.deviceID) }
    private let accountStore: AccountStore
    private let peers: Peers
    private let switches: SwitchController
    private let apps: AppService
    private let streams: StreamService
    private let history: History
    private let wallClock: any WallClock
    private var waiting: [Receiver: (number: Int, respond: Response)] = [:]
    /// The number of the last request.
    private var lastRequest = 0
    /// The handovers by the id of the offer.
    private var handovers: [ActivityID: Handover] = [:]

    init(
        log: Logger, accountStore: AccountStore, peers: Peers, switches: SwitchController,
        apps: AppService, streams: StreamService, history: History, wallClock: any WallClock
    ) {
        self.log = log
        self.accountStore = accountStore
        self.peers = peers
        self.switches = switches
        self.apps = apps
        self.streams = streams
        self.history = history
        self.wallClock = wallClock
    }

    /// Answers a request of a member.
    func answer(_ request: PeerRequest, from device: DeviceID, respond: @escaping Response) {
        switch request.method {
        case PeerMethod.continueActivity: serve(request.parameters, to: device, respond: respond)
        case PeerMethod.openStream: respond(ticket(request.parameters, for: device))
        default:
            respond(
                .failure(
                    HandoffFailure(
                        code: HandoffFailure.unsupportedCode, reason: "unknownMethod",
                        message: "\(name) does not support this request")))
        }
    }

    /// Handles a notice of a member.
    func handle(_ notice: PeerNotice, from device: DeviceID) {
        guard let offer = Self.offer(notice.parameters) else { return }
        switch notice.method {
        case PeerMethod.wasContinued:
            guard hasReceived(offer, device) else { return }
            log.notice("Was continued", ["by": device.short])
            handovers[offer]?.last = (device, wallClock.secondsSince1970)
            // It may be on offer under another id since, or not at all.
            let activity = activity(receivedAs: offer, by: device)
            note(.continuation, activity, "continued", device)
            if let activity {
                apps.wasContinued(activity, as: offer, by: peers.origin(of: device))
            }
        case PeerMethod.wasDeclined:
            // Only the recipient of a sent activity has a user who can decline it.
            guard let activity = apps.store.offered(offer), activity.recipient == device else { return }
            log.notice("Was declined", ["by": device.short])
            note(.continuation, activity, "declined", device)
            apps.wasDeclined(activity, by: peers.origin(of: device))
        default: break
        }
    }

    /// Handles the receipt of a device that continued an activity while this one was offline.
    ///
    /// - Parameter time: in seconds since 1970 by the clock of that device.
    func wasContinued(_ offer: ActivityID, by device: DeviceID, at time: UInt64) {
        // It may be on offer under another id since.
        let kept = handovers[offer].flatMap { apps.store.activity($0.activity) }
        guard let activity = apps.store.offered(offer) ?? kept,
            activity.recipient == nil || activity.recipient == device
        else { return }
        // It has the payload, and may request streams.
        handovers[offer, default: Handover(activity: activity.id)].devices.insert(device)
        handovers[offer]?.last = (device, Double(time))
        note(.continuation, activity, "continued", device)
        apps.wasContinued(activity, as: offer, by: peers.origin(of: device), at: time)
    }

    /// Records that other devices keep a local activity, and may continue it later.
    ///
    /// - Parameter handle: the owner's handle.
    func willKeep(_ offer: ActivityID, _ handle: ActivityID) {
        if handovers[offer] == nil { handovers[offer] = Handover(activity: handle) }
    }

    /// Returns the last continuation of a local activity on another device; nil for none.
    ///
    /// - Parameter handle: the owner's handle.
    func lastContinuation(of handle: ActivityID) -> PublishedActivity.Continuation? {
        let last = handovers.values.filter { $0.activity == handle }.compactMap(\.last).max { $0.time < $1.time }
        return last.map {
            PublishedActivity.Continuation(
                device: $0.device, deviceName: accountStore.snapshot.label(of: $0.device), at: $0.time)
        }
    }

    /// The ids under which other devices have received local activities, by the owner's handle.
    var offers: [ActivityID: Set<ActivityID>] {
        handovers.reduce(into: [:]) { $0[$1.value.activity, default: []].insert($1.key) }
    }

    /// Removes the records of activities that have ended. Called when the local offers change.
    func reviewRecords() {
        handovers = handovers.filter { apps.store.activity($0.value.activity) != nil }
        guard handovers.count > Self.maxRecords else { return }
        handovers = handovers.filter { apps.offered($0.key) != nil }
    }

    // MARK: - Payloads

    /// Serves the payload of an offered activity, once its owner has saved it.
    private func serve(_ parameters: JSONObject, to device: DeviceID, respond: @escaping Response) {
        guard let offer = Self.offer(parameters) else { return respond(.failure(.unknownActivity(device: name))) }
        // Also applies to an activity that was on offer a moment ago: nothing is sent once it is
        // switched off.
        guard mayHandOver(offer, to: device) else { return respond(.failure(.paused(device: name))) }
        let versions: VersionRange
        do throws(HandoffFailure) {
            versions = try self.versions(parameters)
        } catch {
            return respond(.failure(error))
        }
        guard let activity = apps.offered(offer, to: device) else {
            return respond(.failure(.unknownActivity(device: name)))
        }
        let receiver = Receiver(activity: activity.id, device: device)
        // One request at a time: a device that repeats it has lost its previous connection.
        waiting.removeValue(forKey: receiver)?.respond(
            .failure(.rejected(device: name, cause: "the activity was requested again")))
        lastRequest += 1
        waiting[receiver] = (lastRequest, respond)
        apps.save(activity.id, isForUser: true) { [self, number = lastRequest] in
            guard waiting[receiver]?.number == number else { return }
            waiting[receiver] = nil
            respond(payload(of: offer, for: device, versions))
        }
    }

    /// Returns the saved payload of an offered activity, or the failure if it must not be sent.
    private func payload(
        of offer: ActivityID, for device: DeviceID, _ versions: VersionRange
    ) -> PeerResponse.Outcome {
        // The account may have changed while the app was saving.
        if let refusal = peers.refusal(of: device) { return .failure(refusal) }
        guard let activity = apps.offered(offer) else { return .failure(.ownerGone(device: name)) }
        guard versions.contains(activity.origin.appVersion) else {
            let failure = HandoffFailure.otherVersion(activity.origin.appVersion, device: name, takes: versions)
            note(.payload, activity, failure.reason, device)
            log.notice(
                "Not handed over",
                ["app": activity.origin.app ?? "", "to": device.short, "reason": failure.message])
            return .failure(failure)
        }
        let missing = activity.content.missingRequiredKeys
        guard missing.isEmpty else { return .failure(.requiredKeysMissing(missing, device: name)) }
        guard activity.bytes <= apps.payloadLimit else {
            return .failure(.tooLarge(device: name, bytes: activity.bytes, limit: apps.payloadLimit))
        }
        handovers[offer, default: Handover(activity: activity.id)].devices.insert(device)
        note(.payload, activity, "given", device)
        log.info("Handed over", ["type": activity.content.type.text, "to": device.short])
        return .result(activity.content.encodedPayload(origin: activity.origin))
    }

    /// Returns whether an activity may be sent to a device that requests it.
    private func mayHandOver(_ offer: ActivityID, to device: DeviceID) -> Bool {
        guard switches.allows(.advertise, with: device) else { return false }
        // An unknown activity has its own error.
        guard let activity = apps.store.offered(offer) else { return true }
        return switches.policy.forbids(activity.content.type) == nil
    }

    /// Returns the versions of the local app that the other device accepts.
    private func versions(_ parameters: JSONObject) throws(HandoffFailure) -> VersionRange {
        var range = VersionRange()
        for (key, end) in [("minimumVersion", \VersionRange.minimum), ("maximumVersion", \VersionRange.maximum)] {
            guard let text = parameters[key], !text.isNull else { continue }
            guard let version = text.string.flatMap({ AppVersion($0) }) else {
                throw .rejected(device: name, cause: "the requested version cannot be compared")
            }
            range[keyPath: end] = version
        }
        return range
    }

    // MARK: - Streams

    /// Issues a ticket to a stream of an activity that the device has received.
    private func ticket(_ parameters: JSONObject, for device: DeviceID) -> PeerResponse.Outcome {
        guard let activity = Self.offer(parameters).flatMap({ activity(receivedAs: $0, by: device) }) else {
            return .failure(.unknownActivity(device: name))
        }
        guard activity.content.supportsStreams else { return .failure(.streamsUnsupported(device: name)) }
        var resource: StreamResource?
        if let wanted = parameters["resource"], !wanted.isNull {
            resource = wanted.string.flatMap(StreamResource.init)
            guard resource != nil else {
                return .failure(.rejected(device: name, cause: "the requested resource has no valid name"))
            }
        }
        let grant = StreamRegistry.Grant(
            device: device, activity: activity.id, session: activity.session, resource: resource)
        switch streams.grant(grant, name: name) {
        case .success(let ticket): return .result(["ticket": .string(Hex.encode(ticket))])
        case .failure(let failure): return .failure(failure)
        }
    }

    // MARK: - Records

    private func hasReceived(_ offer: ActivityID, _ device: DeviceID) -> Bool {
        handovers[offer]?.devices.contains(device) ?? false
    }

    /// Returns the activity that `device` received as `offer`; nil once its owner has ended it, but
    /// not if it is merely no longer on offer.
    private func activity(receivedAs offer: ActivityID, by device: DeviceID) -> LocalActivity? {
        hasReceived(offer, device) ? handovers[offer].flatMap { apps.store.activity($0.activity) } : nil
    }

    /// Adds an entry to the log of continuations.
    private func note(
        _ event: ControlLogEntry.Event, _ activity: LocalActivity?, _ outcome: String, _ device: DeviceID
    ) {
        history.note(
            ControlLogEntry(
                event: event, direction: .out, type: activity?.content.type.text, device: device,
                deviceName: accountStore.snapshot.label(of: device), app: activity?.origin.app, outcome: outcome))
    }

    /// Returns the id of the offer in the parameters of a request or notice.
    private static func offer(_ parameters: JSONObject) -> ActivityID? {
        parameters["activity"]?.string.flatMap { ActivityID(hex: $0) }
    }
}
