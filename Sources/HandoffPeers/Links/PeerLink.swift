import HandoffCrypto
import HandoffJSON
package import HandoffModel
package import HandoffProtocol
import HandoffTransport
import LoopIO

/// One connection to or from a device, from the call to the end. `PeerSessionMachine` decides, and
/// this class drives it. Lives on the daemon's loop.
package final class PeerLink {
    /// The device at the other end. Its certificate has proved it, or proves it before anything is
    /// sent.
    package let device: DeviceID
    /// The key in the certificate of the other end, once it is proved.
    private(set) var presentedKey: PublicKey?
    /// True if this side called.
    let isClient: Bool
    /// True if the address was configured.
    let isFixed: Bool
    /// True if the link was made to keep the rosters equal, and not for a user or an app.
    let isForRoster: Bool
    /// The address of the other end: the one that answered if this side called, otherwise one of
    /// the caller's choice.
    private(set) var address: SocketAddress?
    /// The reason why the connection could not be made or was lost, for people.
    private(set) var trouble: String?
    /// True if the call that was to make it had no answer, as when the device is off or asleep.
    private(set) var hadNoReply = false
    /// True if it broke, or the other side fell silent; false after an orderly end.
    private(set) var wasCut = false
    /// True if the other side ended it in order.
    private(set) var wasEndedByPeer = false
    /// The call that makes the link, while this side calls.
    var dial: Dial?
    /// The route of that call.
    var route: LinkPool.Route?
    /// Runs until that call counts as slow.
    var slowCallTimer: LoopTimer?
    /// The time at which the link was made; for a client, the start of its call.
    let begun: MonotonicInstant
    /// The time of the last use of the link.
    private(set) var lastUse: MonotonicInstant
    /// The time at which data was last sent.
    private var lastSent: MonotonicInstant
    private let loop: EventLoop
    private let log: Logger
    private let records: PeerRecords
    /// Weak because data can still arrive after the component was released.
    private weak var peers: Peers?
    /// The last sent hello; nil before.
    private var lastHello: (hello: Hello, at: MonotonicInstant)?
    private var helloTimer: LoopTimer?
    private var checkTimer: LoopTimer?
    /// Runs while statements above the rate limit wait.
    private var mergeTimer: LoopTimer?
    private var waitingStatements = 0
    private var machine: PeerSessionMachine
    private var connection: PeerConnection?
    private var completions: [Int64: (RequestOutcome) -> Void] = [:]
    private var waiters: [(Bool) -> Void] = []
    private var endHandlers: [() -> Void] = []
    private var timer: LoopTimer?
    private var hasEnded = false
    private var isChecking = false
    /// The time limit for an answer, to show that the other side is online. Two retransmissions fit
    /// in.
    private static let answerTimeout = Duration.seconds(1)
    /// The minimum time between two hellos. The other side accepts 20 a second, with requests and
    /// notices.
    private static let helloSpacing = Duration.milliseconds(100)
    /// The number of bytes of an incomplete frame from which the pool checks all of them.
    private static let largeFrame = 64 * 1024

    init(
        device: DeviceID, role: SessionRole, isFixed: Bool, isForRoster: Bool, hello: Hello, grease: Grease?,
        loop: EventLoop, log: Logger, records: PeerRecords, peers: Peers
    ) {
        self.device = device
        isClient = role == .client
        self.isFixed = isFixed
        self.isForRoster = isForRoster
        self.loop = loop
        self.log = log
        self.records = records
        self.peers = peers
        begun = loop.now
        lastUse = begun
        lastSent = begun
        machine = PeerSessionMachine(device: device, role: role, hello: hello, grease: grease)
    }

    /// True if the link accepts requests: it is open, or being established.
    var isUsable: Bool { !hasEnded && !look { $0.isIntroducing } }

    /// True if both sides have accepted each other.
    var isEstablished: Bool { !hasEnded && look { $0.isEstablished } }

    /// True if its device has not proved yet that it is live.
    var isIntroducing: Bool { !hasEnded && machine.isIntroducing }

    /// The number of bytes of an incomplete frame, and of statements that wait for their turn.
    var waitingBytes: Int { hasEnded ? 0 : look { $0.bufferedBytes } + waitingStatements }

    /// True if nothing is pending on the link.
    var isIdle: Bool { machine.isIdle }

    /// The last hello of the other side.
    var peerHello: Hello? { machine.peerHello }

    /// The last hello of this side.
    var sentHello: Hello? { lastHello?.hello }

    /// Starts the session on a connection with a proved device. A client sends first.
    ///
    /// - Parameter statements: local statements that the other side probably lacks.
    func attach(_ connection: PeerConnection, statements: [UInt8]?) {
        guard !hasEnded else { return connection.close("it is no longer needed") }
        dial = nil
        slowCallTimer = nil
        self.connection = connection
        log.debug("Connection is open", ["device": device.short, "group": connection.group])
        presentedKey = connection.peerKey
        address = connection.remoteAddress
        connection.onBytes = { [unowned self] bytes in received(bytes) }
        connection.onClosed = { [unowned self] reason in
            wasCut = reason != .finished
            wasEndedByPeer = reason == .finished
            lost(reason.description)
        }
        step { $0.connected(statements: statements, at: now) }
    }

    private func received(_ bytes: [UInt8]) {
        step { $0.received(bytes, budget: &records[device].limiter, at: now) }
        if waitingBytes > Self.largeFrame { peers?.pool.relieve() }
    }

    /// Ends the link: the connection could not be made, or has broken.
    ///
    /// - Parameter isSilence: true if there was no answer.
    func lost(_ reason: String, isSilence: Bool = false) {
        guard !hasEnded else { return }
        hadNoReply = isSilence
        trouble = trouble ?? reason
        end { $0.connectionEnded() }
    }

    /// Ends the link: it is idle, or its device is no longer live.
    func close(_ reason: SessionEnd = .done) {
        guard !hasEnded else { return }
        step { $0.close(reason) }
        // A link that is still being established has no connection that would report its end.
        if !hasEnded { end { $0.connectionEnded() } }
    }

    /// Calls back when both sides have accepted each other, or with false if the link ends first.
    func whenEstablished(_ completion: @escaping (Bool) -> Void) {
        if hasEnded || isEstablished { completion(isEstablished) } else { waiters.append(completion) }
    }

    /// Calls back when the link has ended.
    func whenEnded(_ completion: @escaping () -> Void) {
        if hasEnded { completion() } else { endHandlers.append(completion) }
    }

    /// Sends a request to the other side. The completion is called exactly once.
    func request(
        _ method: String, _ parameters: JSONObject, timeout: Duration?, completion: @escaping (RequestOutcome) -> Void
    ) {
        guard !hasEnded else { return completion(.lost) }
        lastUse = loop.now
        let (id, actions) = machine.request(method, parameters, timeout: timeout, at: now)
        completions[id] = completion
        perform(actions)
    }

    /// Checks whether the other side still answers, and ends the link otherwise. A device that lost
    /// its address or its power sends nothing.
    func checkAlive() {
        guard isEstablished, !isChecking else { return }
        isChecking = true
        request(PeerMethod.activities, [:], timeout: Self.answerTimeout) { [self] outcome in
            isChecking = false
            if outcome == .timedOut { close(.late) }
        }
    }

    /// Checks the same in a second, if the other machine has not acknowledged all sent data by
    /// then.
    func checkAliveSoon() {
        guard checkTimer?.isArmed != true else { return }
        checkTimer = loop.timer(after: Self.answerTimeout) { [unowned self] in
            if isUnacknowledged { checkAlive() }
        }
    }

    /// True if the other machine has not acknowledged all sent data. Its kernel normally does so
    /// within milliseconds.
    var isUnacknowledged: Bool { isEstablished && connection?.isUnacknowledged == true }

    /// Ends the link if the other machine has not acknowledged data, the last of which was sent at
    /// least a second ago. It is unreachable then, as when one of the two has another address now.
    /// Data that was sent within the last second may still be on its way.
    func endIfUnacknowledged() {
        guard lastSent.advanced(by: Self.answerTimeout) <= loop.now else { return }
        if isUnacknowledged { close(.late) }
    }

    /// Answers a request of the other side.
    package func respond(to id: Int64, with outcome: PeerResponse.Outcome) {
        lastUse = loop.now
        step { $0.respond(to: id, with: outcome) }
    }

    /// Sends a notice to the other side; false if it cannot be sent over this link.
    func notify(_ method: String, _ parameters: JSONObject) -> Bool {
        sends(machine.notify(method, parameters))
    }

    /// Sends statements. Does nothing before both sides have accepted each other.
    func sendStatements(_ statements: [UInt8]) {
        perform(machine.sendStatements(statements))
    }

    /// Sends the account key in force. The caller has checked that the device is live in the stored
    /// roster.
    func sendEpochKey(_ body: [UInt8]) {
        perform(machine.sendEpochKey(body))
    }

    /// Sends the state of this device, with the number of its announcement. The other side then
    /// requests what it lacks. The rate is limited, and the last state is always sent.
    ///
    /// - Returns: false if it cannot be sent over this link.
    func sendHello() -> Bool {
        guard isEstablished else { return false }
        guard helloTimer?.isArmed != true else { return true }
        let wait = lastHello.map { max(.zero, loop.now.duration(to: $0.at.advanced(by: Self.helloSpacing))) } ?? .zero
        // In a later turn, so that statements sent in this one precede it.
        helloTimer = loop.timer(after: wait) { [unowned self] in sendHelloNow() }
        return true
    }

    private var latestHello: Hello? { peers?.network.hello(to: device) }

    /// Sends a hello immediately, before the link is closed.
    func sendHelloNow() {
        guard isEstablished, let hello = latestHello else { return }
        machine.hello = hello
        lastHello = (hello, loop.now)
        perform(machine.sendHello())
    }

    /// Sends a hello if the local roster, epoch, label, port or kind has changed.
    func accountChanged() {
        guard isEstablished, let hello = latestHello, let last = lastHello?.hello else { return }
        let isSame =
            hello.rosterDigest == last.rosterDigest && hello.epoch == last.epoch && hello.label == last.label
            && hello.port == last.port && hello.kind == last.kind
        if !isSame { _ = sendHello() }
    }

    private var now: MonotonicInstant { loop.now }

    /// Reads a property of the machine. A getter of another module would receive a copy of the
    /// machine, with a dozen references.
    private func look<Value>(_ property: (inout PeerSessionMachine) -> Value) -> Value { property(&machine) }

    private func sends(_ actions: [SessionAction]) -> Bool {
        guard !hasEnded, !actions.isEmpty else { return false }
        lastUse = loop.now
        perform(actions)
        return true
    }

    private func step(_ event: (inout PeerSessionMachine) -> [SessionAction]) {
        // The label or the epoch may change during a call: the hello has the values at the time of
        // sending.
        if !look({ $0.isEstablished }), let hello = latestHello {
            machine.hello = hello
        }
        let actions = event(&machine)
        for case .send(let frame) in actions where frame.kind == .hello { lastHello = (machine.hello, loop.now) }
        perform(actions)
    }

    private func perform(_ actions: [SessionAction]) {
        // All frames of one step leave in one record and one segment.
        var frames: [Frame] = []
        for action in actions {
            // One action may have ended the link, as when its device is no longer live. Nothing it
            // sent before is served then.
            guard !hasEnded else { return }
            if case .send(let frame) = action {
                frames.append(frame)
                continue
            }
            flush(&frames)
            performOne(action)
        }
        flush(&frames)
        guard !hasEnded else { return }
        if look({ $0.wantsInput }) { connection?.resumeReading() } else { connection?.pauseReading() }
        rearm()
    }

    private func flush(_ frames: inout [Frame]) {
        guard !frames.isEmpty else { return }
        lastSent = loop.now
        connection?.send(frames)
        frames.removeAll(keepingCapacity: true)
    }

    private func performOne(_ action: SessionAction) {
        switch action {
        case .send: break
        case .merge(let statements, let delay): merge(statements, after: delay)
        case .establish(let hello):
            peers?.established(self, hello)
            // Sends what has changed since the hello.
            loop.later { [weak self] in self?.accountChanged() }
            notifyWaiters(true)
        case .raiseGeneration(let seen): peers?.delegate?.raiseGeneration(above: seen)
        case .renew(let hello): peers?.received(hello, over: self)
        case .receiveEpochKey(let body): peers?.sync.receiveEpochKey(self, body)
        case .handle(let request):
            lastUse = loop.now
            peers?.received(request, over: self)
        case .note(let notice): peers?.delegate?.handle(notice, from: device)
        case .complete(let id, let outcome): completions.removeValue(forKey: id)?(outcome)
        case .close(let reason):
            wasCut = reason == .late
            if reason != .done {
                log.info("Connection closed", ["device": device.short, "reason": "\(reason)"])
                trouble = trouble ?? "\(reason)"
            }
            end { _ in [] }
        }
    }

    private func merge(_ statements: [UInt8], after delay: Duration) {
        let merge = { [self] in
            waitingStatements = 0
            peers?.sync.merge(self, statements) { [self] outcome in
                // After the end of the link, the outcome of the merge has no receiver.
                guard !hasEnded else { return }
                step { $0.merged(outcome, hello: latestHello, budget: &records[device].limiter, at: now) }
            }
        }
        guard delay > .zero else { return merge() }
        mergeTimer = loop.timer(after: delay, handler: merge)
        waitingStatements = statements.count
        peers?.pool.relieve()
    }

    private func end(_ event: (inout PeerSessionMachine) -> [SessionAction]) {
        hasEnded = true
        timer = nil
        helloTimer = nil
        checkTimer = nil
        mergeTimer = nil
        dial = nil
        slowCallTimer = nil
        let rest = event(&machine)
        connection?.onBytes = nil
        connection?.onClosed = nil
        connection?.close(trouble ?? "done")
        connection = nil
        for case .complete(let id, let outcome) in rest { completions.removeValue(forKey: id)?(outcome) }
        for completion in completions.values { completion(.lost) }
        completions.removeAll()
        notifyWaiters(false)
        peers?.ended(self)
        let endHandlers = self.endHandlers
        self.endHandlers = []
        for endHandler in endHandlers { endHandler() }
    }

    private func notifyWaiters(_ isEstablished: Bool) {
        let waiters = self.waiters
        self.waiters.removeAll()
        for waiter in waiters { waiter(isEstablished) }
    }

    private func rearm() {
        guard let deadline = look({ $0.nextDeadline }) else {
            timer = nil
            return
        }
        if let timer { return timer.rearm(at: deadline) }
        timer = loop.timer(after: deadline.duration(since: now)) { [unowned self] in
            step { $0.deadlinePassed(at: now) }
        }
    }
}
