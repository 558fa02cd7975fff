import HandoffAccount
import HandoffControl
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// What passes between this device and the others, over connections.
extension DaemonCore {
    /// The events of every link.
    var linkEvents: PeerLink.Events {
        PeerLink.Events(
            established: { [unowned self] link, hello in
                // Its connections were closed when it was removed; should one have been overlooked, it ends here.
                guard ring.peerKey(link.device) != nil else { return link.close(.notLive) }
                health.note(link.device, at: loop.now)
                health.note(link.device, trouble: nil)
                network.linkEstablished(link, hello)
                sync.heard(hello, over: link, isFirst: true)
            },
            merge: { [unowned self] in sync.merge($0, $1, completion: $2) },
            renewed: { [unowned self] link, hello in
                network.takeHello(hello, over: link)
                sync.heard(hello, over: link, isFirst: false)
            },
            takeEpochKey: { [unowned self] in sync.takeEpochKey($0, $1) },
            handle: { [unowned self] in handle($1, over: $0) },
            note: { [unowned self] in note($1, from: $0.device) },
            raiseBoot: { [unowned self] in raiseBoot(above: $0) },
            grew: { [unowned self] in pool.relieve() },
            ended: { [unowned self] link in
                pool.ended(link)
                // One that the other side has closed in order, as it does with those that are idle, is no trouble.
                let isTrouble = !(link.wasEndedByPeer && link.peerHello != nil)
                if ring.live.contains(link.device) {
                    health.note(link.device, trouble: isTrouble ? link.trouble : nil)
                }
                network.linkEnded(link)
                statics.review()
            })
    }

    /// What this side says first on a connection to a device.
    func hello(to device: DeviceID) -> Hello? {
        let ring = self.ring
        return Hello(
            software: Version.daemon, kind: kind, port: port, label: network.labels.label,
            boot: network.announcer.position.boot, seq: network.announcer.position.seq,
            listSeq: network.announcer.listSeq, seenBoot: network.table.seenBoot(of: device),
            rosterDigest: ring.rosterDigest, epoch: ring.epochName, isGoodbye: network.isLeaving)
    }

    /// Where an activity came from, or who continued it.
    func origin(_ device: DeviceID) -> ControlOrigin {
        ControlOrigin(
            device: device, deviceName: ring.name(of: device), deviceKind: network.table[device]?.kind ?? .other)
    }

    // MARK: - Asking others

    /// Asks a device for the payload of an activity that it offers.
    func fetch(
        _ activity: ActivityID, from device: DeviceID, timeout: Duration,
        completion: @escaping (Result<Payload, HandoffFailure>) -> Void
    ) -> FetchHandle {
        let name = ring.name(of: device)
        let question = Question(device: device, method: PeerMethod.continueActivity, activity: activity)
        return ask(question, timeout: timeout) { result in
            completion(
                result.flatMap { payload in
                    do {
                        let content = try ActivityContent(payload: payload)
                        let origin = PayloadOrigin(payload: payload)
                        // As we write it, it may be longer than it came, and apps read messages up to a limit.
                        try content.validate(origin: origin, maximumPayload: Limits.payloadMaximum)
                        return .success(Payload(content: content, origin: origin))
                    } catch {
                        return .failure(.invalidPayload(device: name, cause: "\(error)"))
                    }
                })
        }
    }

    /// Asks a device for a ticket to a stream of an activity that was continued here, for the apps' own or a resource.
    func askForStream(
        of activity: ActivityID, _ resource: StreamResource?, from device: DeviceID,
        completion: @escaping (Result<[UInt8], HandoffFailure>) -> Void
    ) -> FetchHandle {
        let name = ring.name(of: device)
        let question = Question(
            device: device, method: PeerMethod.openStream, activity: activity, resource: resource)
        return ask(question, timeout: Self.patienceForTicket) { result in
            completion(
                result.flatMap { answer in
                    guard let ticket = answer["ticket"]?.string.flatMap({ StreamID(hex: $0) }) else {
                        return .failure(.peerUnreachable(device: name, cause: "it gave no ticket"))
                    }
                    return .success(ticket.bytes)
                })
        }
    }

    /// What a device is asked about one of its activities.
    private struct Question {
        let device: DeviceID
        let method: String
        let activity: ActivityID
        var resource: StreamResource?

        var parameters: JSONObject {
            var parameters: JSONObject = ["activity": .string(activity.hex)]
            parameters["resource"] = resource.map { .string($0.text) }
            return parameters
        }
    }

    /// Asks a device; the completion is called exactly once, unless the handle is cancelled.
    private func ask(
        _ question: Question, timeout: Duration, completion: @escaping (Result<JSONObject, HandoffFailure>) -> Void
    ) -> FetchHandle {
        let handle = FetchHandle()
        ask(question, timeout: timeout, mayRetry: true, for: handle) { result in
            if !handle.isCancelled { completion(result) }
        }
        return handle
    }

    private func ask(
        _ question: Question, timeout: Duration, mayRetry: Bool, for handle: FetchHandle,
        completion: @escaping (Result<JSONObject, HandoffFailure>) -> Void
    ) {
        guard !handle.isCancelled else { return }
        let device = question.device
        let name = ring.name(of: device)
        guard ring.peerKey(device) != nil else { return completion(.failure(.notMember(device: name))) }
        // A device takes so many requests a second and drops the rest: those wait here, and not there in vain.
        let mayAsk = paces[device, default: AskingPace()].admit(question.method, at: network.now)
        guard mayAsk, ring.isCurrent, let link = pool.link(to: device) else {
            let rest = timeout - Self.pause
            guard rest > .zero, !mayAsk || !ring.isCurrent else {
                return completion(.failure(.peerUnreachable(device: name, cause: "no address of it is known")))
            }
            handle.timer = loop.timer(after: Self.pause) { [self] in
                ask(question, timeout: rest, mayRetry: mayRetry, for: handle, completion: completion)
            }
            if handle.timer == nil { completion(.failure(.timedOut(device: name))) }
            return
        }
        let wasWarm = link.isEstablished
        // A warm connection may have ended unnoticed, as after sleep; one that is good answers much sooner.
        if wasWarm { handle.timer = loop.timer(after: Self.patienceForAnswer) { link.checkAlive() } }
        link.request(question.method, question.parameters, timeout: timeout) {
            [self] outcome in
            switch outcome {
            case .answered(.result(let answer)): completion(.success(answer))
            case .answered(.failure(let failure)): completion(.failure(failure.told(by: name)))
            case .timedOut: completion(.failure(.timedOut(device: name)))
            case .lost where mayRetry && wasWarm:
                // The connection had ended unnoticed, as after sleep: a new one shows whether the device is there.
                ask(question, timeout: timeout, mayRetry: false, for: handle, completion: completion)
            case .lost:
                let cause = link.trouble ?? "the connection was lost"
                completion(.failure(.peerUnreachable(device: name, cause: cause)))
            }
        }
    }

    /// How long to wait for an answer on a warm connection before asking whether anyone is there.
    private static let patienceForAnswer = Duration.milliseconds(300)

    /// How soon to try again when a device was asked too often, or the key in force is on its way here.
    private static let pause = Duration.milliseconds(50)
    /// How long a device may take to give a ticket.
    private static let patienceForTicket = Duration.seconds(10)

    /// Tells a device that an activity of it was continued here.
    func tellOrigin(_ device: DeviceID, _ activity: ActivityID) {
        guard let link = pool.link(to: device) else { return }
        link.whenEstablished { isEstablished in
            // Without a connection the origin never learns of it, which harms nobody.
            if isEstablished { _ = link.notify(PeerMethod.wasContinued, ["activity": .string(activity.hex)]) }
        }
    }

    /// Says by connection what this device says of itself now, where datagrams do not arrive.
    func deliver(to device: DeviceID, completion: @escaping (Bool) -> Void) {
        guard let link = pool.link(to: device) else { return completion(false) }
        // A new connection begins with it.
        if link.isEstablished { return completion(link.sayHello()) }
        link.whenEstablished(completion)
    }

    /// Asks a device for the whole list of its activities, of which only a part fits its announcements.
    func askForList(of device: DeviceID, completion: @escaping (ActivityList?) -> Void) {
        guard ring.isCurrent, let link = pool.link(to: device) else { return completion(nil) }
        link.request(PeerMethod.activities, [:], timeout: .seconds(5)) { outcome in
            guard case .answered(.result(let result)) = outcome, let list = try? ActivityList(json: result)
            else { return completion(nil) }
            completion(list)
        }
    }

    // MARK: - Answering others

    private func handle(_ request: PeerRequest, over link: PeerLink) {
        guard ring.isCurrent, ring.peerKey(link.device) != nil else {
            return link.respond(to: request.id, with: .failure(.paused(device: name)))
        }
        switch request.method {
        case PeerMethod.continueActivity: handOver(request, over: link)
        case PeerMethod.activities:
            let list = ActivityList(
                position: network.announcer.position,
                activities: Array(network.announcedOffers(to: link.device).prefix(ActivityList.maximumCount)))
            link.respond(to: request.id, with: .result(list.json))
        case PeerMethod.openStream: giveTicket(request, over: link)
        default:
            link.respond(
                to: request.id,
                with: .failure(
                    HandoffFailure(
                        code: HandoffFailure.unsupportedCode, reason: "unknownMethod",
                        message: "\(name) does not know this request")))
        }
    }

    private func handOver(_ request: PeerRequest, over link: PeerLink) {
        guard let id = request.parameters["activity"]?.string.flatMap({ ActivityID(hex: $0) }) else {
            return link.respond(to: request.id, with: .failure(.unknownActivity(device: name)))
        }
        let device = link.device
        // Also for an activity that was on offer a moment ago: what was switched off is not given any more.
        guard mayHandOver(id, to: device) else {
            return link.respond(to: request.id, with: .failure(.paused(device: name)))
        }
        apps.desk.serve(id, to: device) { [self] result in
            // The account may have changed while the app was saving.
            guard ring.isCurrent, ring.peerKey(device) != nil else {
                return link.respond(to: request.id, with: .failure(.paused(device: name)))
            }
            switch result {
            case .failure(let failure): link.respond(to: request.id, with: .failure(failure))
            case .success(let payload):
                let object = payload.content.encodedPayload(origin: payload.origin)
                let bytes = object.encoded().count
                guard bytes <= configuration.payloadLimit else {
                    return link.respond(
                        to: request.id,
                        with: .failure(.tooLarge(device: name, bytes: bytes, limit: configuration.payloadLimit)))
                }
                link.respond(to: request.id, with: .result(object))
                history.note(
                    ControlLogEntry(
                        event: .payload, direction: .out, type: payload.content.type.text, device: device,
                        deviceName: ring.name(of: device), app: payload.origin.app,
                        outcome: "given"))
                log.info("Handed over", ["type": payload.content.type.text, "to": device.short])
            }
        }
    }

    private func giveTicket(_ request: PeerRequest, over link: PeerLink) {
        guard let id = request.parameters["activity"]?.string.flatMap({ ActivityID(hex: $0) }),
            let activity = apps.desk.activity(fetchedAs: id, by: link.device)
        else { return link.respond(to: request.id, with: .failure(.unknownActivity(device: name))) }
        guard activity.content.supportsStreams else {
            return link.respond(to: request.id, with: .failure(.streamsUnsupported(device: name)))
        }
        var resource: StreamResource?
        if let wanted = request.parameters["resource"], !wanted.isNull {
            resource = wanted.string.flatMap(StreamResource.init)
            guard resource != nil else {
                let cause = "what its stream is asked for has no valid name"
                return link.respond(to: request.id, with: .failure(.rejected(device: name, cause: cause)))
            }
        }
        let grant = StreamBook.Grant(
            device: link.device, activity: activity.id, session: activity.session, resource: resource)
        switch streams.grant(grant, name: name) {
        case .success(let ticket):
            link.respond(to: request.id, with: .result(["ticket": .string(Hex.encode(ticket))]))
        case .failure(let failure): link.respond(to: request.id, with: .failure(failure))
        }
    }

    private func note(_ notice: PeerNotice, from device: DeviceID) {
        guard notice.method == PeerMethod.wasContinued,
            let id = notice.parameters["activity"]?.string.flatMap({ ActivityID(hex: $0) }),
            apps.desk.hasFetched(id, device)
        else { return }
        log.notice("Was continued", ["by": device.short])
        let activity = apps.desk.activity(fetchedAs: id, by: device)
        history.note(
            ControlLogEntry(
                event: .continuation, direction: .out, type: activity?.content.type.text, device: device,
                deviceName: ring.name(of: device),
                app: activity.flatMap { apps.registry.session($0.session)?.app },
                outcome: "continued"))
        apps.wasContinued(id, by: origin(device))
    }
}
