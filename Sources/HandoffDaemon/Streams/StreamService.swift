import HandoffControl
import HandoffControlServer
import HandoffCrypto
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffStreams
import HandoffTransport
import LoopIO
import Timing

/// The streams of continuations, on either side: who may open one, where it runs, and how it ended. Lives on the daemon's
/// loop; the bytes move on stream loops.
final class StreamService {
    /// Streams with one device, and with all of them.
    static let maxPerDevice = 1024
    static let most = 4096
    /// Connections of one device that have not shown a ticket; as many as it has tickets, if these are more.
    static let maxUnproved = 16
    /// How long an app may take to take a stream.
    private static let timeoutForApp = Duration.seconds(30)

    let loop: EventLoop
    let log: Logger
    let peers: Peers
    private let accountStore: AccountStore
    private let apps: AppService
    private let history: History
    private let loops = StreamLoops()
    private(set) var book = StreamRegistry()
    var streams: [StreamID: OpenStream] = [:]
    private var counts: [DeviceID: Int] = [:]
    private var unproved: [DeviceID: Int] = [:]
    private var outcomes = StreamOutcomes()
    private var openings = OpeningQueue()
    private let sleepLock: SleepLock
    private var places = FileSemaphore()
    private var isStopped = false

    init(
        loop: EventLoop, log: Logger, sleepLock: SleepLock, peers: Peers, accountStore: AccountStore,
        apps: AppService, history: History
    ) {
        self.loop = loop
        self.log = log
        self.sleepLock = sleepLock
        self.peers = peers
        self.accountStore = accountStore
        self.apps = apps
        self.history = history
    }

    /// What a device is called.
    func name(_ device: DeviceID) -> String { accountStore.snapshot.label(of: device) }

    /// The app with an attachment.
    private func app(_ session: SessionID) -> String? { apps.registry.session(session)?.app }

    // MARK: - Calls of apps

    /// `OpenStream`.
    func open(_ call: ControlCall) throws {
        guard call.wantsUpgrade else { throw CallError.expectedUpgrade }
        switch try OpenStreamRequest(json: call.parameters) {
        case .continuation(let id, let resource): try begin(id, resource, call)
        case .stream(let id):
            guard case .offered = streams[id]?.phase else { throw CallError.noSuchStream(id) }
            streams[id]?.phase = .flowing
            hand(id, to: call)
        }
    }

    /// `AwaitStream`.
    func await(_ call: ControlCall) throws {
        let id: StreamID = try Fields(call.parameters).value("stream")
        if let outcome = outcomes.outcome(of: id, now: loop.now) { return call.reply(outcome.json) }
        guard streams[id] != nil else { throw CallError.noSuchStream(id) }
        outcomes.wait(for: id, call)
        call.onClosed = { [self, unowned call] in outcomes.forget(call, of: id) }
    }

    /// `PassFile`.
    func passFile(_ call: ControlCall) throws {
        // First of all, so that whatever comes of this call, the next one finds only its own.
        let passed = call.takePassed()
        let request = try PassFileRequest(json: call.parameters)
        guard let stream = streams[request.stream], case .flowing = stream.phase else {
            throw CallError.noSuchStream(request.stream)
        }
        guard let file = passed.first, passed.count == 1 else {
            throw CallError.invalidDescriptor(
                passed.isEmpty ? "no descriptor came with the call" : "more than one descriptor came with the call")
        }
        do throws(PassedFileError) {
            try file.check(for: request.direction == .send ? .reading : .writing)
        } catch {
            throw CallError.invalidDescriptor("\(error)")
        }
        let part = FilePart(
            direction: request.direction == .send ? .send : .receive, position: UInt64(request.position),
            length: request.length.map(Int64.init), file: file)
        let name = name(stream.device)
        let place = ObjectIdentifier(call)
        guard places.take(place, for: stream.device) else {
            throw CallError.fileFailed(moved: 0, "too many files are read or written for \(name)")
        }
        let relay = LoopRelay<FilePart.Event>(to: loop) { [weak self] in self?.moved($0, call, name) }
        call.onClosed = { [handle = stream.handle, weak self] in
            relay.cancel()
            self?.places.release(place)
            // Nobody would learn how it went, and the bytes cannot be told apart any more.
            handle.reset(.cancelled)
        }
        stream.handle.pass(part) { relay.send($0) }
    }

    private func moved(_ event: FilePart.Event, _ call: ControlCall, _ device: String) {
        if case .moved = event {} else { places.release(ObjectIdentifier(call)) }
        switch event {
        case .moved(let count):
            if call.wantsMore { call.replyContinuing(PassFileReply(moved: Int(count), done: false).json) }
        case .done(let count): call.reply(PassFileReply(moved: Int(count), done: true).json)
        case .positionPassed(let position): call.fail(CallError.positionPassed(position))
        case .failed(let count, let cause): call.fail(CallError.fileFailed(moved: count, cause))
        case .over(let count, let report):
            let reply = AwaitStreamReply(report, device: device)
            call.fail(
                CallError(
                    name: AppErrorName.streamEnded.rawValue,
                    parameters: StreamEndedError(
                        moved: Int(count), outcome: reply.outcome, message: reply.message
                    ).json))
        }
    }

    /// Answers with the stream, and makes the client's socket its end.
    private func hand(_ id: StreamID, to call: ControlCall) {
        let upgraded = call.upgrade(["stream": .string(id.hex)])
        guard let upgraded, let handle = streams[id]?.handle else {
            upgraded?.close()
            streams[id]?.handle.reset(.cancelled)
            return
        }
        upgraded.detach { socket in
            if let socket { handle.attach(socket) } else { handle.reset(.cancelled) }
        }
    }

    // MARK: - Streams

    /// Whether one more stream with a device is allowed.
    func hasRoom(for device: DeviceID) -> Bool {
        !isStopped && streams.count < Self.most && counts[device, default: 0] < Self.maxPerDevice
    }

    /// A stream over a connection that is ready.
    /// - Returns: nil when there is no thread for it.
    private func add(
        _ channel: StreamChannel, device: DeviceID, greeting: StreamHandle.Greeting, phase: OpenStream.Phase,
        opening: StreamOpening? = nil
    ) -> StreamID? {
        let id = StreamID(checked: Randomness.bytes(StreamID.byteCount))
        guard let (handle, relay) = start(channel, greeting, as: id) else { return nil }
        streams[id] = OpenStream(device: device, handle: handle, relay: relay, phase: phase, opening: opening)
        counts[device, default: 0] += 1
        return id
    }

    private func start(
        _ channel: StreamChannel, _ greeting: StreamHandle.Greeting, as id: StreamID
    ) -> (StreamHandle, LoopRelay<StreamHandle.Event>)? {
        guard let streamLoop = try? loops.acquire() else { return nil }
        let relay = LoopRelay<StreamHandle.Event>(to: loop) { [weak self] in self?.happened($0, to: id) }
        return (StreamHandle(channel, greeting: greeting, on: streamLoop) { relay.send($0) }, relay)
    }

    private func happened(_ event: StreamHandle.Event, to id: StreamID) {
        switch event {
        case .ticket(let ticket): shown(ticket, by: id)
        case .moved: sleepLock.transferMoved()
        case .untaken(let socket, let cause): untaken(id, socket, cause)
        case .ended(let report): ended(id, report)
        }
    }

    private func ended(_ id: StreamID, _ report: StreamReport) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        stream.relay.cancel()
        loops.release(stream.handle.loop)
        let count = counts[stream.device, default: 1] - 1
        counts[stream.device] = count > 0 ? count : nil
        let reply = AwaitStreamReply(report, device: name(stream.device))
        switch stream.phase {
        case .awaitingTicket:
            proved(stream.device)
            log.debug("A connection for a stream showed no ticket", ["device": stream.device.short])
            return
        case .offered, .flowing, .reopening: break
        }
        log.info(
            "Stream ended",
            [
                "device": stream.device.short, "outcome": reply.outcome.rawValue, "sent": "\(report.sent)",
                "received": "\(report.received)",
            ])
        history.note(
            ControlLogEntry(
                event: .stream, direction: stream.opening != nil ? .in : .out, device: stream.device,
                deviceName: name(stream.device), app: stream.app, outcome: reply.outcome.rawValue,
                sent: Int64(clamping: report.sent), received: Int64(clamping: report.received)))
        for call in outcomes.ended(id, reply, now: loop.now) { call.reply(reply.json) }
    }

    private func proved(_ device: DeviceID) {
        let count = unproved[device, default: 1] - 1
        unproved[device] = count > 0 ? count : nil
    }

    // MARK: - Serving others

    /// Gives a device a ticket for a stream of an activity.
    func grant(_ grant: StreamRegistry.Grant, name: String) -> Result<[UInt8], HandoffFailure> {
        let ticket = Randomness.bytes(StreamID.byteCount)
        guard hasRoom(for: grant.device), book.give(ticket, for: grant, now: loop.now) else {
            return .failure(.tooManyStreams(device: name))
        }
        return .success(ticket)
    }

    /// Takes a connection for a stream from a member, which has to show a ticket.
    func accept(_ connection: PeerConnection, from device: DeviceID) {
        // Who was given many tickets may show them all at once.
        let count = unproved[device, default: 0]
        guard hasRoom(for: device),
            count < Self.maxUnproved || count < book.ticketCount(of: device, now: loop.now)
        else { return connection.close("the device has enough streams") }
        guard let channel = connection.detach(),
            add(channel, device: device, greeting: .await, phase: .awaitingTicket) != nil
        else { return }
        unproved[device, default: 0] += 1
    }

    private func shown(_ ticket: [UInt8], by id: StreamID) {
        guard let stream = streams[id], case .awaitingTicket = stream.phase else { return }
        guard let grant = book.take(ticket, from: stream.device, now: loop.now) else { return stream.handle.close() }
        proved(stream.device)
        let timer = loop.timer(after: Self.timeoutForApp) { [weak self] in self?.tooLate(id) }
        streams[id]?.phase = .offered(to: grant.session, timer)
        streams[id]?.app = app(grant.session)
        streams[id]?.activity = grant.activity
        stream.handle.accept()
        log.info("Stream was opened", ["by": stream.device.short])
        let isAnnounced = apps.announce(
            id, grant.resource, of: grant.activity, to: grant.session, from: peers.origin(of: grant.device))
        if !isAnnounced { stream.handle.reset(.refused) }
    }

    private func tooLate(_ id: StreamID) {
        guard let stream = streams[id], case .offered = stream.phase else { return }
        stream.handle.reset(.refused)
    }

    // MARK: - Asking others

    private func begin(_ id: ContinuationID, _ resource: StreamResource?, _ call: ControlCall) throws {
        guard let continued = book.continuation(id) else { throw CallError.streamFailed(.notContinued) }
        let name = name(continued.device)
        guard continued.hasStreams else { throw CallError.streamFailed(.streamsUnsupported(device: name)) }
        guard hasRoom(for: continued.device), openings.hasRoom(for: continued.device) else {
            throw CallError.streamFailed(.tooManyStreams(device: name))
        }
        run(StreamOpening(call, continued, resource, service: self))
    }

    private func run(_ opening: StreamOpening) {
        openings.add(opening)
        runOpenings(to: opening.device)
    }

    private func runOpenings(to device: DeviceID) {
        while let opening = openings.next(for: device) {
            opening.begin { [weak self, unowned opening] in
                guard let self else { return }
                openings.ended(opening)
                loop.later { [weak self] in self?.runOpenings(to: device) }
            }
        }
    }

    /// A connection for a stream that was asked for here is ready: shows the ticket, and hands the stream to the app. Whether
    /// the other device takes it shows in what becomes of it.
    /// - Returns: false when there is no thread for it.
    func show(_ ticket: [UInt8], over channel: StreamChannel, for opening: StreamOpening) -> Bool {
        let id = add(
            channel, device: opening.device, greeting: .show(ticket: ticket), phase: .flowing, opening: opening)
        guard let id else { return false }
        streams[id]?.app = opening.session.flatMap(app)
        log.info("Stream is open", ["to": opening.device.short])
        hand(id, to: opening.call)
        return true
    }

    /// The other device has not taken a stream, and the app has noticed nothing: perhaps the account was changed meanwhile,
    /// after which no connection is taken that came by the former key. Another one is made, with another ticket.
    private func untaken(_ id: StreamID, _ socket: HandedDescriptor, _ cause: String) {
        guard let opening = streams[id]?.opening else { return }
        streams[id]?.phase = .reopening
        opening.again(id, socket, cause)
        run(opening)
    }

    /// A connection for a stream that was not taken is ready.
    /// - Returns: false when there is no thread for it.
    func show(
        _ ticket: [UInt8], over channel: StreamChannel, again id: StreamID, _ socket: HandedDescriptor
    ) -> Bool {
        guard let former = streams[id] else { return true }
        guard let (handle, relay) = start(channel, .show(ticket: ticket), as: id) else { return false }
        former.relay.cancel()
        loops.release(former.handle.loop)
        streams[id]?.handle = handle
        streams[id]?.relay = relay
        streams[id]?.phase = .flowing
        handle.attach(socket)
        return true
    }

    /// No other connection came about.
    func notReopened(_ id: StreamID, _ failure: HandoffFailure) {
        ended(id, StreamReport(end: .gone(failure.message), sent: 0, received: 0))
    }

    // MARK: - Changes

    /// An activity is continued here from now on.
    func began(_ id: ContinuationID, _ continued: StreamRegistry.Continued) {
        book.began(id, continued)
    }

    /// A continuation came to nothing.
    func undone(_ id: ContinuationID) {
        book.undone(id)
    }

    /// An activity of this device was withdrawn: ends the streams that other devices have opened to it, and voids their tickets.
    func activityWithdrawn(_ activity: ActivityID) {
        book.activityWithdrawn(activity)
        for stream in streams.values where stream.activity == activity { stream.handle.reset(.cancelled) }
    }

    /// An app has gone: it opens no more streams, and takes none; those that are open end with their own connections.
    func sessionEnded(_ session: SessionID) {
        book.sessionEnded(session)
        for stream in streams.values {
            if case .offered(to: session, _) = stream.phase { stream.handle.reset(.refused) }
        }
    }

    /// Takes the members as they are now: streams with any other device end at once.
    func accountChanged(live: Set<DeviceID>) {
        book.accountChanged(live: live)
        for stream in streams.values where !live.contains(stream.device) { stream.handle.reset(.notMember) }
        for opening in openings.all(where: { !live.contains($0) }) {
            opening.fail(.notMember(device: name(opening.device)))
        }
    }

    /// Ends all streams.
    func stop() {
        isStopped = true
        for opening in openings.all(where: { _ in true }) {
            opening.fail(.cancelled(device: name(opening.device)))
        }
        for stream in streams.values {
            stream.handle.reset(.stopping)
            stream.relay.cancel()
        }
        streams = [:]
        loops.stop()
        sleepLock.stop()
    }
}
