import HandoffAccount
import HandoffConfiguration
import HandoffControl
import HandoffCrypto
import HandoffDocuments
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// Answers the requests of the other devices for payloads and stream tickets, and handles their
/// notices. Lives on the daemon's loop.
final class PeerService {
    private let log: Logger
    /// The name of this device in failures.
    private let name: String
    private let accountStore: AccountStore
    private let peers: Peers
    private let switches: SwitchController
    private let apps: AppService
    private let streams: StreamService
    private let history: History

    init(
        log: Logger, name: String, accountStore: AccountStore, peers: Peers, switches: SwitchController,
        apps: AppService, streams: StreamService, history: History
    ) {
        self.log = log
        self.name = name
        self.accountStore = accountStore
        self.peers = peers
        self.switches = switches
        self.apps = apps
        self.streams = streams
        self.history = history
    }

    /// Answers a request of a member.
    func answer(_ request: PeerRequest, over link: PeerLink) {
        switch request.method {
        case PeerMethod.continueActivity: handOver(request, over: link)
        case PeerMethod.openStream: issueTicket(request, over: link)
        default:
            link.respond(
                to: request.id,
                with: .failure(
                    HandoffFailure(
                        code: HandoffFailure.unsupportedCode, reason: "unknownMethod",
                        message: "\(name) does not support this request")))
        }
    }

    private func handOver(_ request: PeerRequest, over link: PeerLink) {
        guard let id = request.parameters["activity"]?.string.flatMap({ ActivityID(hex: $0) }) else {
            return link.respond(to: request.id, with: .failure(.unknownActivity(device: name)))
        }
        let device = link.device
        // Also applies to an activity that was on offer a moment ago: nothing is sent once it is
        // switched off.
        guard mayHandOver(id, to: device) else {
            return link.respond(to: request.id, with: .failure(.paused(device: name)))
        }
        let range: VersionRange
        do throws(HandoffFailure) {
            range = try versions(request)
        } catch {
            return link.respond(to: request.id, with: .failure(error))
        }
        apps.payloads.serve(id, to: device) { [self] result in
            // The account may have changed while the app was saving.
            if let refusal = peers.refusal(of: device) { return link.respond(to: request.id, with: .failure(refusal)) }
            switch result {
            case .failure(let failure): link.respond(to: request.id, with: .failure(failure))
            case .success(let payload):
                guard range.contains(payload.origin.appVersion) else {
                    let failure = HandoffFailure.otherVersion(payload.origin.appVersion, device: name, takes: range)
                    link.respond(to: request.id, with: .failure(failure))
                    note(failure.reason, payload, device)
                    return log.notice(
                        "Not handed over",
                        ["app": payload.origin.app ?? "", "to": device.short, "reason": failure.message])
                }
                let content = payload.content.withoutLocalPaths
                let object = content.encodedPayload(origin: payload.origin)
                let missing = content.missingRequiredKeys
                guard missing.isEmpty else {
                    return link.respond(to: request.id, with: .failure(.requiredKeysMissing(missing, device: name)))
                }
                let bytes = object.encodedCount
                guard bytes <= apps.payloadLimit else {
                    return link.respond(
                        to: request.id,
                        with: .failure(.tooLarge(device: name, bytes: bytes, limit: apps.payloadLimit)))
                }
                link.respond(to: request.id, with: .result(object))
                note("given", payload, device)
                log.info("Handed over", ["type": payload.content.type.text, "to": device.short])
            }
        }
    }

    private func note(_ outcome: String, _ payload: Payload, _ device: DeviceID) {
        history.note(
            ControlLogEntry(
                event: .payload, direction: .out, type: payload.content.type.text, device: device,
                deviceName: accountStore.snapshot.label(of: device), app: payload.origin.app, outcome: outcome))
    }

    /// Returns the versions of the local app that the other device accepts.
    private func versions(_ request: PeerRequest) throws(HandoffFailure) -> VersionRange {
        var range = VersionRange()
        for (key, end) in [("minimumVersion", \VersionRange.minimum), ("maximumVersion", \VersionRange.maximum)] {
            guard let text = request.parameters[key], !text.isNull else { continue }
            guard let version = text.string.flatMap({ AppVersion($0) }) else {
                throw .rejected(device: name, cause: "the requested version cannot be compared")
            }
            range[keyPath: end] = version
        }
        return range
    }

    private func issueTicket(_ request: PeerRequest, over link: PeerLink) {
        guard let id = request.parameters["activity"]?.string.flatMap({ ActivityID(hex: $0) }),
            let activity = apps.payloads.activity(fetchedAs: id, by: link.device)
        else { return link.respond(to: request.id, with: .failure(.unknownActivity(device: name))) }
        guard activity.content.supportsStreams else {
            return link.respond(to: request.id, with: .failure(.streamsUnsupported(device: name)))
        }
        var resource: StreamResource?
        if let wanted = request.parameters["resource"], !wanted.isNull {
            resource = wanted.string.flatMap(StreamResource.init)
            guard resource != nil else {
                let cause = "the requested resource has no valid name"
                return link.respond(to: request.id, with: .failure(.rejected(device: name, cause: cause)))
            }
        }
        let grant = StreamRegistry.Grant(
            device: link.device, activity: activity.id, session: activity.session, resource: resource)
        switch streams.grant(grant, name: name) {
        case .success(let ticket):
            link.respond(to: request.id, with: .result(["ticket": .string(Hex.encode(ticket))]))
        case .failure(let failure): link.respond(to: request.id, with: .failure(failure))
        }
    }

    func handle(_ notice: PeerNotice, from device: DeviceID) {
        guard let id = notice.parameters["activity"]?.string.flatMap({ ActivityID(hex: $0) }) else { return }
        switch notice.method {
        case PeerMethod.wasContinued:
            guard apps.payloads.hasFetched(id, device) else { return }
            log.notice("Was continued", ["by": device.short])
            note(apps.payloads.activity(fetchedAs: id, by: device), "continued", device)
            apps.wasContinued(id, by: peers.origin(of: device))
        case PeerMethod.wasDeclined:
            // Only the recipient of a sent activity has a user who can decline it.
            guard let activity = apps.store.offered(id), activity.recipient == device else { return }
            log.notice("Was declined", ["by": device.short])
            note(activity, "declined", device)
            apps.wasDeclined(activity, by: peers.origin(of: device))
        default: break
        }
    }

    private func note(_ activity: LocalActivity?, _ outcome: String, _ device: DeviceID) {
        history.note(
            ControlLogEntry(
                event: .continuation, direction: .out, type: activity?.content.type.text, device: device,
                deviceName: accountStore.snapshot.label(of: device),
                app: activity.flatMap { apps.registry.session($0.session)?.app },
                outcome: outcome))
    }

    /// Returns whether an activity may be sent to a device that requests it.
    private func mayHandOver(_ offer: ActivityID, to device: DeviceID) -> Bool {
        guard switches.allows(.advertise, with: device) else { return false }
        // An unknown activity has its own error.
        guard let activity = apps.store.offered(offer) else { return true }
        return switches.policy.forbids(activity.content.type) == nil
    }
}
