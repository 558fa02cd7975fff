import HandoffAccount
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffProtocol
import HandoffState
import HandoffStreams
import HandoffTransport
import LoopIO

/// Sends requests to the other devices over connections: for payloads, tickets to streams, and
/// lists of activities. Lives on the daemon's loop.
///
/// `PeersDelegate.answer` is the other side of it.
final class PeerClient {
    /// The delay before a retry when a device was sent too many requests, or the key in force is on
    /// its way here.
    private static let pause = Duration.milliseconds(50)
    /// The time limit for a device to issue a ticket.
    private static let ticketTimeout = Duration.seconds(10)

    private let loop: EventLoop
    private let accountStore: AccountStore
    private let pool: LinkPool
    private let network: PeerNetwork
    /// Makes the connections for streams.
    private let streamDialer: Dialer
    private let records: PeerRecords
    private let wallClock: any WallClock

    init(
        loop: EventLoop, accountStore: AccountStore, pool: LinkPool, records: PeerRecords, network: PeerNetwork,
        streamDialer: Dialer, wallClock: any WallClock
    ) {
        self.loop = loop
        self.accountStore = accountStore
        self.pool = pool
        self.records = records
        self.network = network
        self.streamDialer = streamDialer
        self.wallClock = wallClock
    }

    /// Requests the payload of an activity from the device that offers it.
    ///
    /// - Parameter versions: the accepted versions of the app there.
    func fetch(
        _ activity: ActivityID, from device: DeviceID, versions: VersionRange?, timeout: Duration,
        completion: @escaping (Result<Payload, HandoffFailure>) -> Void
    ) -> FetchHandle {
        let name = accountStore.snapshot.label(of: device)
        let question = Question(
            device: device, method: PeerMethod.continueActivity, activity: activity, versions: versions)
        return ask(question, timeout: timeout) { result in
            completion(
                result.flatMap { Payload.read($0, from: name) })
        }
    }

    /// Requests a ticket to a stream of an activity that was continued here: the stream of the
    /// apps, or that of a resource.
    func requestStreamTicket(
        of activity: ActivityID, _ resource: StreamResource?, from device: DeviceID,
        completion: @escaping (Result<[UInt8], HandoffFailure>) -> Void
    ) -> FetchHandle {
        let name = accountStore.snapshot.label(of: device)
        let question = Question(
            device: device, method: PeerMethod.openStream, activity: activity, resource: resource)
        return ask(question, timeout: Self.ticketTimeout) { result in
            completion(
                result.flatMap { answer in
                    guard let ticket = answer["ticket"]?.string.flatMap({ StreamID(hex: $0) }) else {
                        return .failure(.peerUnreachable(device: name, cause: "it issued no ticket"))
                    }
                    return .success(ticket.bytes)
                })
        }
    }

    /// A request about an activity of a device.
    private struct Question {
        let device: DeviceID
        let method: String
        let activity: ActivityID
        var resource: StreamResource?
        var versions: VersionRange?

        var parameters: JSONObject {
            var parameters: JSONObject = ["activity": .string(activity.hex)]
            parameters["resource"] = resource.map { .string($0.text) }
            parameters["minimumVersion"] = (versions?.minimum).map { .string($0.description) }
            parameters["maximumVersion"] = (versions?.maximum).map { .string($0.description) }
            return parameters
        }
    }

    /// Sends a request. The completion is called exactly once, in a later turn, unless the handle
    /// is cancelled.
    private func ask(
        _ question: Question, timeout: Duration, completion: @escaping (Result<JSONObject, HandoffFailure>) -> Void
    ) -> FetchHandle {
        let handle = FetchHandle()
        var hasReturned = false
        ask(question, timeout: timeout, mayRetry: true, for: handle) { [loop] result in
            let complete = { if !handle.isCancelled { completion(result) } }
            if hasReturned { complete() } else { loop.later(complete) }
        }
        hasReturned = true
        return handle
    }

    private func ask(
        _ question: Question, timeout: Duration, mayRetry: Bool, for handle: FetchHandle,
        completion: @escaping (Result<JSONObject, HandoffFailure>) -> Void
    ) {
        guard !handle.isCancelled else { return }
        let device = question.device
        let name = accountStore.snapshot.label(of: device)
        guard accountStore.snapshot.peerKey(device) != nil else {
            return completion(.failure(.notMember(device: name)))
        }
        if let failure = asleep(device) { return completion(.failure(failure)) }
        // A device accepts a limited number of requests per second and drops the rest. The excess
        // waits here instead.
        let mayAsk = records[device].requests.admit(question.method, at: loop.now)
        guard mayAsk, accountStore.snapshot.isCurrent, let link = pool.link(to: device) else {
            let rest = timeout - Self.pause
            guard rest > .zero, !mayAsk || !accountStore.snapshot.isCurrent else {
                return completion(.failure(.peerUnreachable(device: name, cause: "no address of it is known")))
            }
            handle.timer = loop.timer(after: Self.pause) { [self] in
                ask(question, timeout: rest, mayRetry: mayRetry, for: handle, completion: completion)
            }
            return
        }
        let wasWarm = link.isEstablished
        if wasWarm { handle.timer = pool.checkTimer(for: link) }
        link.request(question.method, question.parameters, timeout: timeout) {
            [self] outcome in
            switch outcome {
            case .answered(.result(let answer)): completion(.success(answer))
            case .answered(.failure(let failure)): completion(.failure(failure.reported(by: name)))
            case .timedOut: completion(.failure(.timedOut(device: name)))
            case .lost where mayRetry && wasWarm:
                // The connection had ended unnoticed, as after sleep. A new one shows whether the
                // device is online.
                ask(question, timeout: timeout, mayRetry: false, for: handle, completion: completion)
            case .lost:
                completion(.failure(asleep(device) ?? unreachable(name, link)))
            }
        }
    }

    /// The failure of a call without a result.
    private func unreachable(_ name: String, _ link: PeerLink) -> HandoffFailure {
        link.hadNoReply
            ? silence(of: link.device, name, since: link.begun)
            : .peerUnreachable(device: name, cause: link.trouble ?? "the connection was lost")
    }

    /// The failure of a call that began at this time and had no answer. A datagram that has arrived
    /// since proves that the device runs; one is requested when a call is slow.
    private func silence(of device: DeviceID, _ name: String, since begun: MonotonicInstant) -> HandoffFailure {
        let isRunning = records[device].heard.map { $0 > begun } ?? false
        return isRunning ? .connectionsBlocked(device: name) : .peerSilent(device: name)
    }

    /// The time at which a device announced that it goes to sleep, in seconds since 1970; nil if it
    /// is not known to be asleep.
    func asleepSince(_ device: DeviceID) -> UInt64? {
        network.table.asleepSince(device).map { since in
            let seconds = UInt64(clamping: (loop.now - since).components.seconds)
            return wallClock.unixSeconds - min(seconds, wallClock.unixSeconds)
        }
    }

    /// The failure of a request to a device that is asleep; nil if it is not known to be asleep.
    func asleep(_ device: DeviceID) -> HandoffFailure? {
        asleepSince(device).map { since in
            .peerAsleep(
                device: accountStore.snapshot.label(of: device),
                since: LocalTime.short(Double(since), now: Double(wallClock.unixSeconds)))
        }
    }

    /// Notifies a device of what happened to one of its activities on this device.
    ///
    /// - Parameter method: `PeerMethod.wasContinued` or `PeerMethod.wasDeclined`.
    func notifyOrigin(_ device: DeviceID, _ method: String, _ activity: ActivityID) {
        guard let link = pool.link(to: device) else { return }
        link.whenEstablished { isEstablished in
            // Without a connection, the origin does not learn of it and continues to offer the
            // activity.
            if isEstablished { _ = link.notify(method, ["activity": .string(activity.hex)]) }
        }
    }

    /// Sends the present state of this device over a connection, where datagrams do not arrive.
    func deliver(to device: DeviceID, completion: @escaping (Bool) -> Void) {
        guard let link = pool.link(to: device) else { return completion(false) }
        // A new connection starts with a hello.
        if link.isEstablished {
            completion(link.sendHello())
            // If datagrams do not arrive, the connection may carry nothing either. Then it ends,
            // and the device is probed.
            return link.checkAliveSoon()
        }
        link.whenEstablished(completion)
    }

    /// Requests the complete list of a device's activities, of which only a part fits into its
    /// announcements.
    func requestList(of device: DeviceID, completion: @escaping (ActivityList?) -> Void) {
        guard accountStore.snapshot.isCurrent, let link = pool.link(to: device) else { return completion(nil) }
        link.request(PeerMethod.activities, [:], timeout: .seconds(5)) { outcome in
            guard case .answered(.result(let result)) = outcome, let list = try? ActivityList(json: result)
            else { return completion(nil) }
            completion(list)
        }
    }

    /// Connects to a member for a stream.
    ///
    /// - Returns: nil if no route to it is known now.
    func dialStream(
        to device: DeviceID, completion: @escaping (Result<StreamChannel, HandoffFailure>) -> Void
    ) -> Dial? {
        let snapshot = accountStore.snapshot
        guard snapshot.isCurrent, snapshot.peerKey(device) != nil,
            let route = network.routes(to: device).first(where: { !$0.isIntroduction })
        else { return nil }
        let begun = loop.now
        return streamDialer.dial(route.target(device, snapshot)) { [weak self] result in
            guard let self else { return }
            let name = accountStore.snapshot.label(of: device)
            switch result {
            case .failure(let error):
                for failure in error.failures where failure.hadNoReply {
                    network.unanswered(device, at: failure.address)
                }
                completion(
                    .failure(
                        error.isSilence
                            ? silence(of: device, name, since: begun)
                            : .peerUnreachable(device: name, cause: error.description)))
            case .success(let connection):
                guard accountStore.snapshot.peerKey(device) != nil else {
                    connection.close("the device is no longer live")
                    return completion(.failure(.notMember(device: name)))
                }
                guard let channel = connection.detach() else {
                    return completion(.failure(.peerUnreachable(device: name, cause: "the connection was lost")))
                }
                completion(.success(channel))
            }
        }
    }
}

/// A pending request to another device, which can be cancelled.
package final class FetchHandle {
    /// True once the caller no longer waits for the answer.
    private(set) var isCancelled = false
    /// Armed while the request waits for its next attempt.
    var timer: LoopTimer?

    /// Cancels the request. An answer that still arrives is dropped.
    package func cancel() {
        isCancelled = true
        timer = nil
    }
}
