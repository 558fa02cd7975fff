import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

struct SimulatedOffer {
    let device: SimulatedDevice
    /// The app of the activity; nil for an offer without an app.
    let session: SimulatedSession?
    let id: ActivityID
    let content: ActivityContent
}

/// A simulated device, which behaves towards apps like a daemon. On the loop's thread.
final class SimulatedDevice {
    let name: String
    let path: String
    /// The transfer time of its activities.
    var delay = Duration.zero
    /// The failures for the next continuations of its activities.
    var failures: [HandoffFailure] = []
    /// True if it is disconnected from the network.
    private(set) var isCut = false
    /// The attached apps, the most recently attached last.
    private(set) var sessions: [SimulatedSession] = []
    private let id: DeviceID
    private let network: SimulatedNetwork
    private var listener: Listener?
    private var connections: [SimulatedConnection] = []
    /// The offer without an app.
    private var ownOffer: (id: ActivityID, content: ActivityContent)?

    init(_ name: String, path: String, network: SimulatedNetwork) {
        self.name = name
        self.path = path
        self.network = network
        id = DeviceID.random
    }

    func origin(of session: SimulatedSession? = nil) -> Origin {
        Origin(
            device: id, deviceName: name, deviceKind: .desktop, app: session?.request.app,
            appVersion: session?.request.version)
    }

    // MARK: The daemon

    func start() throws(SocketFileError) {
        guard listener == nil else { return }
        let listener = try Listener(unixPath: path, on: network.loop)
        listener.onAccept = { [unowned self] descriptor, _ in
            guard let stream = try? ByteStream(descriptor, on: network.loop) else { return }
            accept(stream)
        }
        self.listener = listener
    }

    /// Ends like a daemon: all connections are closed.
    func stop() {
        listener?.close()
        listener = nil
        network.breakStreams(of: self)
        for connection in connections { connection.close() }
        network.changed()
    }

    private func accept(_ stream: ByteStream) {
        connections.append(SimulatedConnection(stream, to: self))
    }

    func serve(_ call: SimulatedCall) {
        answer(call)
        network.changed()
    }

    /// Handles the end of a connection, or its upgrade to a stream.
    func ended(_ connection: SimulatedConnection) {
        connections.removeAll { $0 === connection }
        guard let place = sessions.firstIndex(where: { $0.connection === connection }) else { return }
        let session = sessions.remove(at: place)
        network.ended(session)
        session.ended()
        network.changed()
    }

    private func answer(_ call: SimulatedCall) {
        do throws(VarlinkError) {
            try answerChecked(call)
        } catch {
            guard case .invalidParameter(let field) = error else { return }
            call.fail("org.varlink.service.InvalidParameter", ["parameter": .string(field)])
        }
    }

    private func answerChecked(_ call: SimulatedCall) throws(VarlinkError) {
        let fields = Fields(call.parameters)
        switch call.method {
        case .attach:
            sessions.append(
                SimulatedSession(try AttachRequest(json: call.parameters), events: call, loop: network.loop))
        case .openStream: network.openStream(try OpenStreamRequest(json: call.parameters), call, at: self)
        case nil, .passFile, .shareMemory, .awaitStream:
            call.fail("org.varlink.service.MethodNotImplemented", ["method": .string(call.name)])
        default:
            let id = try fields.text("session")
            guard let session = sessions.first(where: { $0.id == id }) else {
                return call.fail(AppErrorName.noSuchSession.rawValue, ["session": .string(id)])
            }
            guard case .failure(let error) = try answer(call, fields, in: session) else { return }
            call.fail(
                AppErrorName.invalidActivity.rawValue,
                [
                    "field": .string(error.field), "message": .string(error.message),
                    "code": .integer(Int64(error.code)),
                ])
        }
    }

    /// Replies to a call in a session.
    /// - Throws: an error for invalid parameters.
    /// - Returns: a failure if the activity is refused.
    private func answer(
        _ call: SimulatedCall, _ fields: Fields, in session: SimulatedSession
    ) throws(VarlinkError) -> Result<Void, ActivityError> {
        if call.method == .declare {
            session.declare(try DeclareRequest(json: call.parameters))
            call.reply()
            return .success(())
        }
        if call.method == .answerContinue {
            let id: ContinuationID = try fields.value("continuation")
            if session.answered(id, handled: try fields.value("handled")) {
                call.reply()
            } else {
                call.fail(AppErrorName.noSuchContinuation.rawValue, ["continuation": .string(id.hex)])
            }
            return .success(())
        }
        if call.method == .reportReceived {
            // There are no notifications here, so nothing was chosen in one.
            _ = try ReportReceivedRequest(json: call.parameters)
            call.reply()
            return .success(())
        }
        if call.method == .reportProgress {
            _ = try ReportProgressRequest(json: call.parameters)
            call.reply(ReportProgressReply().json)
            return .success(())
        }
        if call.method == .publish {
            let description: ActivityDescription = try fields.message("activity")
            return Result { () throws(ActivityError) in
                call.reply(AppEvent.published(try session.publish(description), advice: nil).json)
            }
        }
        let id: ActivityID = try fields.value("activity")
        let change: ActivityChange? =
            call.method == .update || call.method == .answerSave ? try fields.optional("change") : nil
        return Result { () throws(ActivityError) in
            guard try session.change(id, change) else {
                return call.fail(AppErrorName.noSuchActivity.rawValue, ["activity": .string(id.hex)])
            }
            call.reply()
            switch call.method {
            case .becomeCurrent: session.becomeCurrent(id)
            case .resignCurrent: session.resignCurrent(id)
            case .invalidate: session.invalidate(id)
            case .answerSave: session.saved(id)
            default: break
            }
        }
    }

    // MARK: Offers

    /// The offers that the other devices see, the latest first.
    var offers: [SimulatedOffer] {
        guard !isCut else { return [] }
        let ofApps = sessions.reversed().compactMap { session -> SimulatedOffer? in
            guard let id = session.current, let activity = session.activities[id],
                activity.content.isEligibleForHandoff
            else { return nil }
            return SimulatedOffer(device: self, session: session, id: id, content: activity.content)
        }
        let own = ownOffer.map { SimulatedOffer(device: self, session: nil, id: $0.id, content: $0.content) }
        return ofApps + (own.map { [$0] } ?? [])
    }

    /// Replaces the offer without an app.
    func offer(_ content: ActivityContent?) {
        ownOffer = content.map { (ActivityID.random, $0) }
        network.changed()
    }

    /// Fetches the latest content of an offer.
    func payload(of offer: SimulatedOffer, _ then: @escaping (Result<ActivityContent, HandoffFailure>) -> Void) {
        guard let session = offer.session else { return then(.success(offer.content)) }
        session.save(offer.id) { [name] in
            guard let content = session.activities[offer.id]?.content else {
                return then(.failure(.unknownActivity(device: name)))
            }
            then(.success(content))
        }
    }

    // MARK: The network

    /// Disconnects the device from the network, or reconnects it.
    func cut(_ isCut: Bool) {
        self.isCut = isCut
        if isCut {
            network.breakStreams(of: self)
            network.breakContinuations(with: self)
        }
        network.changed()
    }

    /// Returns the app that continues an activity here. Among several, the most recently attached
    /// one.
    func session(taking content: ActivityContent) -> SimulatedSession? { sessions.last { $0.takes(content) } }
}
