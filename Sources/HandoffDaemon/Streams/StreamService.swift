import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffStreams
import HandoffTransport
import LoopIO

/// The streams of continuations on either side: admission, execution and outcomes. Lives on the
/// daemon's loop. The bytes move on stream loops.
final class StreamService {
    /// The maximum number of streams with one device, and with all devices.
    static let maxPerDevice = 1024
    static let maxStreams = 4096
    /// The maximum number of connections of one device that have not presented a ticket, or the
    /// number of its tickets if that is greater.
    static let maxUnproved = 16
    /// The time in which an app must accept a stream.
    private static let timeoutForApp = Duration.seconds(30)

    let loop: EventLoop
    let log: Logger
    let peers: Peers
    private let accountStore: AccountStore
    private let apps: AppService
    private let history: History
    private let loops = StreamLoops()
    private(set) var registry = StreamRegistry()
    var streams: [StreamID: OpenStream] = [:]
    /// The devices with streams.
    private var devices: [DeviceID: DeviceStreams] = [:]
    private var outcomes = StreamOutcomes()
    private let sleepLock: SleepLock
    private var fileSemaphore = FileSemaphore()
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

    /// Returns the name of a device.
    func name(_ device: DeviceID) -> String { accountStore.snapshot.label(of: device) }

    /// Returns the app with an attachment.
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
        // First, so that later calls find only their own descriptors whatever happens to this one.
        let passed = call.takePassed()
        let request = try PassFileRequest(json: call.parameters)
        guard let stream = streams[request.stream], case .flowing = stream.phase else {
            throw CallError.noSuchStream(request.stream)
        }
        guard let file = passed.first, passed.count == 1 else {
            throw CallError.invalidDescriptor(
                passed.isEmpty ? "the call has no descriptor" : "the call has more than one descriptor")
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
        guard fileSemaphore.take(place, for: stream.device) else {
            throw CallError.fileFailed(moved: 0, "too many files are being read or written for \(name)")
        }
        let relay = LoopRelay<FilePart.Event>(to: loop) { [weak self] in self?.moved($0, call, name) }
        call.onClosed = { [handle = stream.handle, weak self] in
            relay.cancel()
            self?.fileSemaphore.release(place)
            // The outcome cannot be reported, and the position of the bytes is unknown.
            handle.reset(.cancelled)
        }
        stream.handle.pass(part) { relay.send($0) }
    }

    private func moved(_ event: FilePart.Event, _ call: ControlCall, _ device: String) {
        if case .moved = event {} else { fileSemaphore.release(ObjectIdentifier(call)) }
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

    /// Replies with the stream, and attaches the client's socket to it.
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

    /// Returns whether one more stream with a device is allowed.
    func hasRoom(for device: DeviceID) -> Bool {
        !isStopped && streams.count < Self.maxStreams && (devices[device]?.count ?? 0) < Self.maxPerDevice
    }

    /// Changes the streams with a device.
    private func update<Result>(_ device: DeviceID, _ change: (inout DeviceStreams) -> Result) -> Result {
        defer { if devices[device]?.isEmpty == true { devices[device] = nil } }
        return change(&devices[device, default: DeviceStreams()])
    }

    /// Adds a stream over an open connection.
    /// - Returns: nil if no thread is available.
    private func add(
        _ channel: StreamChannel, device: DeviceID, greeting: StreamHandle.Greeting, phase: OpenStream.Phase,
        opening: StreamOpening? = nil
    ) -> StreamID? {
        let id = StreamID(checked: Randomness.bytes(StreamID.byteCount))
        guard let (handle, relay) = start(channel, greeting, as: id) else { return nil }
        streams[id] = OpenStream(device: device, handle: handle, relay: relay, phase: phase, opening: opening)
        update(device) { $0.opened() }
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
        update(stream.device) { $0.ended() }
        let reply = AwaitStreamReply(report, device: name(stream.device))
        switch stream.phase {
        case .awaitingTicket:
            proved(stream.device)
            log.debug("A connection for a stream presented no ticket", ["device": stream.device.short])
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
        update(device) { $0.ticketPresented() }
    }

    // MARK: - Serving other devices

    /// Issues a ticket to a device for a stream of an activity.
    func grant(_ grant: StreamRegistry.Grant, name: String) -> Result<[UInt8], HandoffFailure> {
        let ticket = Randomness.bytes(StreamID.byteCount)
        guard hasRoom(for: grant.device), registry.give(ticket, for: grant, now: loop.now) else {
            return .failure(.tooManyStreams(device: name))
        }
        return .success(ticket)
    }

    /// Accepts a connection for a stream from a member, which must present a ticket.
    func accept(_ connection: PeerConnection, from device: DeviceID) {
        // A device with many tickets may present all of them together.
        let count = devices[device]?.countWithoutTicket ?? 0
        guard hasRoom(for: device),
            count < Self.maxUnproved || count < registry.ticketCount(of: device, now: loop.now)
        else { return connection.close("the device has too many streams") }
        guard let channel = connection.detach(),
            add(channel, device: device, greeting: .await, phase: .awaitingTicket) != nil
        else { return }
        update(device) { $0.accepted() }
    }

    private func shown(_ ticket: [UInt8], by id: StreamID) {
        guard let stream = streams[id], case .awaitingTicket = stream.phase else { return }
        guard let grant = registry.take(ticket, from: stream.device, now: loop.now) else {
            return stream.handle.close()
        }
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

    // MARK: - Opening streams

    private func begin(_ id: ContinuationID, _ resource: StreamResource?, _ call: ControlCall) throws {
        guard let continued = registry.continuation(id) else { throw CallError.streamFailed(.notContinued) }
        let name = name(continued.device)
        guard continued.hasStreams else { throw CallError.streamFailed(.streamsUnsupported(device: name)) }
        guard hasRoom(for: continued.device), devices[continued.device]?.openings.hasRoom ?? true else {
            throw CallError.streamFailed(.tooManyStreams(device: name))
        }
        run(StreamOpening(call, continued, resource, service: self))
    }

    private func run(_ opening: StreamOpening) {
        update(opening.device) { $0.openings.add(opening) }
        runOpenings(to: opening.device)
    }

    private func runOpenings(to device: DeviceID) {
        while let opening = update(device, { $0.openings.next() }) {
            opening.begin { [weak self, unowned opening] in
                guard let self else { return }
                update(device) { $0.openings.ended(opening) }
                loop.later { [weak self] in self?.runOpenings(to: device) }
            }
        }
    }

    /// Handles an open connection for a stream requested here: presents the ticket, and attaches
    /// the app. Whether the other device accepts the stream is known only later.
    /// - Returns: false if no thread is available.
    func show(_ ticket: [UInt8], over channel: StreamChannel, for opening: StreamOpening) -> Bool {
        let id = add(
            channel, device: opening.device, greeting: .show(ticket: ticket), phase: .flowing, opening: opening)
        guard let id else { return false }
        streams[id]?.app = opening.session.flatMap(app)
        log.info("Stream is open", ["to": opening.device.short])
        hand(id, to: opening.call)
        return true
    }

    /// Handles a stream that the other device did not accept before the app noticed anything. The
    /// account may have changed meanwhile, after which connections under the previous key are not
    /// accepted. Another connection is opened, with another ticket.
    private func untaken(_ id: StreamID, _ socket: HandedDescriptor, _ cause: String) {
        guard let opening = streams[id]?.opening else { return }
        streams[id]?.phase = .reopening
        opening.again(id, socket, cause)
        run(opening)
    }

    /// Continues a stream that was not accepted over another connection.
    /// - Returns: false if no thread is available.
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

    /// Ends a stream for which no other connection could be opened.
    func notReopened(_ id: StreamID, _ failure: HandoffFailure) {
        ended(id, StreamReport(end: .gone(failure.message), sent: 0, received: 0))
    }

    // MARK: - Changes

    /// Records that an activity is continued here.
    func began(_ id: ContinuationID, _ continued: StreamRegistry.Continued) {
        registry.began(id, continued)
    }

    /// Removes a failed continuation.
    func undone(_ id: ContinuationID) {
        registry.undone(id)
    }

    /// Handles the withdrawal of a local activity. The streams that other devices have opened to it
    /// end, and their tickets become invalid.
    func activityWithdrawn(_ activity: ActivityID) {
        registry.activityWithdrawn(activity)
        for stream in streams.values where stream.activity == activity { stream.handle.reset(.cancelled) }
    }

    /// Handles the end of an app's session. The app can no longer open or accept streams. Its open
    /// streams end with their own connections.
    func sessionEnded(_ session: SessionID) {
        registry.sessionEnded(session)
        for stream in streams.values {
            if case .offered(to: session, _) = stream.phase { stream.handle.reset(.refused) }
        }
    }

    /// Applies the current members. Streams with any other device end immediately.
    func accountChanged(live: Set<DeviceID>) {
        registry.accountChanged(live: live)
        for stream in streams.values where !live.contains(stream.device) { stream.handle.reset(.notMember) }
        for (device, streams) in devices where !live.contains(device) {
            for opening in streams.openings.all { opening.fail(.notMember(device: name(device))) }
        }
    }

    func stop() {
        isStopped = true
        for (device, streams) in devices {
            for opening in streams.openings.all { opening.fail(.cancelled(device: name(device))) }
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
