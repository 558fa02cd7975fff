import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// What a device offers.
struct PlayedOffer {
    let device: PlayedDevice
    /// Whose activity it is; nil: no app's.
    let session: PlayedSession?
    let id: ActivityID
    let content: ActivityContent
}

/// A device that is played: what apps see of a daemon. On the loop's thread.
final class PlayedDevice {
    let name: String
    let path: String
    /// How long it takes before what it offers comes.
    var delay = Duration.zero
    /// How the next continuations of what it offers fail.
    var failures: [HandoffFailure] = []
    /// Whether no other device reaches it.
    private(set) var isCut = false
    /// Its apps, the one that attached last behind the others.
    private(set) var sessions: [PlayedSession] = []
    private let id: DeviceID
    private let network: PlayedNetwork
    private var listener: Listener?
    private var connections: [PlayedConnection] = []
    /// What it offers without an app.
    private var ownOffer: (id: ActivityID, content: ActivityContent)?

    init(_ name: String, path: String, network: PlayedNetwork) {
        self.name = name
        self.path = path
        self.network = network
        id = DeviceID.random
    }

    /// What it is to the others.
    func origin(of session: PlayedSession? = nil) -> Origin {
        Origin(
            device: id, deviceName: name, deviceKind: .desktop, app: session?.request.app,
            appVersion: session?.request.version)
    }

    // MARK: The daemon

    /// Listens for apps.
    func start() throws(SocketFileError) {
        guard listener == nil else { return }
        let listener = try Listener(unixPath: path, on: network.loop)
        listener.onAccept = { [unowned self] descriptor, _ in
            guard let stream = try? ByteStream(descriptor, on: network.loop) else { return }
            accept(stream)
        }
        self.listener = listener
    }

    /// Ends as a daemon does: all connections are closed.
    func stop() {
        listener?.close()
        listener = nil
        network.breakStreams(of: self)
        for connection in connections { connection.close() }
        network.changed()
    }

    private func accept(_ stream: ByteStream) {
        connections.append(PlayedConnection(stream, to: self))
    }

    /// Serves a call of an app.
    func serve(_ call: PlayedCall) {
        answer(call)
        network.changed()
    }

    /// A connection is over, or has become a stream.
    func ended(_ connection: PlayedConnection) {
        connections.removeAll { $0 === connection }
        guard let place = sessions.firstIndex(where: { $0.connection === connection }) else { return }
        let session = sessions.remove(at: place)
        network.ended(session)
        session.ended()
        network.changed()
    }

    private func answer(_ call: PlayedCall) {
        do throws(VarlinkError) {
            try answerChecked(call)
        } catch {
            guard case .invalidParameter(let field) = error else { return }
            call.fail("org.varlink.service.InvalidParameter", ["parameter": .string(field)])
        }
    }

    private func answerChecked(_ call: PlayedCall) throws(VarlinkError) {
        let fields = Fields(call.parameters)
        switch call.method {
        case .attach:
            sessions.append(PlayedSession(try AttachRequest(json: call.parameters), events: call, loop: network.loop))
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

    /// Answers a call in a session.
    /// - Throws: for parameters of the wrong kind.
    /// - Returns: why the activity is refused.
    private func answer(
        _ call: PlayedCall, _ fields: Fields, in session: PlayedSession
    ) throws(VarlinkError) -> Result<Void, ActivityError> {
        if call.method == .declare {
            session.declare(try DeclareRequest(json: call.parameters))
            call.reply()
            return .success(())
        }
        if call.method == .answerContinue {
            let id: ContinuationID = try fields.value("continuation")
            if session.answered(id, handled: try fields.flag("handled")) {
                call.reply()
            } else {
                call.fail(AppErrorName.noSuchContinuation.rawValue, ["continuation": .string(id.hex)])
            }
            return .success(())
        }
        if call.method == .reportReceived {
            // Nobody has chosen anything in a notification here.
            _ = try ReportReceivedRequest(json: call.parameters)
            call.reply()
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

    // MARK: What it offers

    /// What the other devices see of it, the latest first.
    var offers: [PlayedOffer] {
        guard !isCut else { return [] }
        let ofApps = sessions.reversed().compactMap { session -> PlayedOffer? in
            guard let id = session.current, let activity = session.activities[id],
                activity.content.isEligibleForHandoff
            else { return nil }
            return PlayedOffer(device: self, session: session, id: id, content: activity.content)
        }
        let own = ownOffer.map { PlayedOffer(device: self, session: nil, id: $0.id, content: $0.content) }
        return ofApps + (own.map { [$0] } ?? [])
    }

    /// Offers an activity without an app, in the place of the one before.
    func offer(_ content: ActivityContent?) {
        ownOffer = content.map { (ActivityID.random, $0) }
        network.changed()
    }

    /// Brings an offer up to date.
    func payload(of offer: PlayedOffer, _ then: @escaping (Result<ActivityContent, HandoffFailure>) -> Void) {
        guard let session = offer.session else { return then(.success(offer.content)) }
        session.save(offer.id) { [name] in
            guard let content = session.activities[offer.id]?.content else {
                return then(.failure(.unknownActivity(device: name)))
            }
            then(.success(content))
        }
    }

    // MARK: The network

    /// Takes it from the network, or brings it back.
    func cut(_ isCut: Bool) {
        self.isCut = isCut
        if isCut {
            network.breakStreams(of: self)
            network.breakContinuations(with: self)
        }
        network.changed()
    }

    /// The app that continues an activity here: of several the one that attached last.
    func session(taking content: ActivityContent) -> PlayedSession? { sessions.last { $0.takes(content) } }
}
