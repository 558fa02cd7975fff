import HandoffCrypto
import HandoffJSON
import HandoffLog
package import HandoffModel
package import HandoffProtocol
import HandoffTransport
import LoopIO
import Timing

/// One connection to or from a device, from the call to the end: `PeerSessionMachine` decides, this drives it.
/// Lives on the daemon's loop.
package final class PeerLink {
    /// The device at the other end, as its certificate proved, or proves before anything is sent.
    package let device: DeviceID
    /// The key that the certificate at the other end carries, once it is proved.
    private(set) var presentedKey: PublicKey?
    /// Whether this side called.
    let isClient: Bool
    /// Whether the address was configured.
    let isFixed: Bool
    /// Whether it was made to keep the rosters equal, and not for what a user or an app asked.
    let isForRoster: Bool
    /// The address at the other end: the one that answered when this side called, else one of the caller's own choice.
    private(set) var address: SocketAddress?
    /// Why the connection could not be made or was lost, for people.
    private(set) var trouble: String?
    /// Whether nobody answered the call that was to make it, as when the device is off or asleep.
    private(set) var hadNoAnswer = false
    /// Whether it broke, or the other side fell silent; false after an end in order.
    private(set) var wasCut = false
    /// Whether the other side ended it in order.
    private(set) var wasEndedByPeer = false
    /// The call that is to make it, while this side calls.
    var dial: Dial?
    /// By what that call goes.
    var way: LinkPool.Way?
    /// Runs until that call takes long.
    var patience: LoopTimer?
    /// When the link was made: of a client when its call began.
    let begun: MonotonicInstant
    /// When the link was last of use.
    private(set) var lastUse: MonotonicInstant
    private let loop: EventLoop
    private let log: Logger
    private let records: PeerRecords
    /// Weak because data can still arrive after the component was released.
    private weak var peers: Peers?
    /// What was said last of this device; nil before.
    private var lastSaid: (hello: Hello, at: MonotonicInstant)?
    private var helloTimer: LoopTimer?
    private var checkTimer: LoopTimer?
    /// Runs while statements wait that came above the limit.
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
    /// How long the other side may take to show that it is there; two retransmissions fit in.
    private static let timeoutForAnswer = Duration.seconds(1)
    /// The shortest time between two hellos: the other side takes 20 a second, with requests and notices.
    private static let helloSpacing = Duration.milliseconds(100)
    /// Bytes of a frame that is still on its way from which on the pool looks at all of them.
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
        machine = PeerSessionMachine(device: device, role: role, hello: hello, grease: grease)
    }

    /// Whether requests may be put on it: it is open, or being made.
    var isUsable: Bool { !hasEnded && !look { $0.isIntroducing } }

    /// Whether both sides have accepted each other.
    var isEstablished: Bool { !hasEnded && look { $0.isEstablished } }

    /// Whether its device has yet to show that it is live.
    var isIntroducing: Bool { !hasEnded && machine.isIntroducing }

    /// Bytes of a frame that has not arrived whole, and of statements that wait for their turn.
    var waitingBytes: Int { hasEnded ? 0 : look { $0.bufferedBytes } + waitingStatements }

    /// Whether nobody waits for anything on it.
    var isIdle: Bool { machine.isIdle }

    /// What the other side said of itself.
    var peerHello: Hello? { machine.peerHello }

    /// The connection is made and the device proved; a client speaks first.
    ///
    /// - Parameter statements: what the other side is thought to lack of our roster.
    func attach(_ connection: PeerConnection, statements: [UInt8]?) {
        guard !hasEnded else { return connection.close("nobody needs it any more") }
        dial = nil
        patience = nil
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

    /// The connection could not be made, or has broken.
    ///
    /// - Parameter isSilence: whether nobody answered.
    func lost(_ reason: String, isSilence: Bool = false) {
        guard !hasEnded else { return }
        hadNoAnswer = isSilence
        trouble = trouble ?? reason
        end { $0.connectionEnded() }
    }

    /// Ends the link: it is idle, or its device is no longer live.
    func close(_ reason: SessionEnd = .done) {
        guard !hasEnded else { return }
        step { $0.close(reason) }
        // A link that is still being made has no connection that would report its end.
        if !hasEnded { end { $0.connectionEnded() } }
    }

    /// Calls back when both sides have accepted each other, or with false when that will not be.
    func whenEstablished(_ completion: @escaping (Bool) -> Void) {
        if hasEnded || isEstablished { completion(isEstablished) } else { waiters.append(completion) }
    }

    /// Calls back when the link has ended.
    func whenEnded(_ completion: @escaping () -> Void) {
        if hasEnded { completion() } else { endHandlers.append(completion) }
    }

    /// Asks the other side; the completion is called exactly once.
    func request(
        _ method: String, _ parameters: JSONObject, timeout: Duration?, completion: @escaping (RequestOutcome) -> Void
    ) {
        guard !hasEnded else { return completion(.lost) }
        lastUse = loop.now
        let (id, actions) = machine.request(method, parameters, timeout: timeout, at: now)
        completions[id] = completion
        perform(actions)
    }

    /// Finds out whether the other side still answers, and ends the link if not: a device that lost its address or its
    /// power says nothing.
    func checkAlive() {
        guard isEstablished, !isChecking else { return }
        isChecking = true
        request(PeerMethod.activities, [:], timeout: Self.timeoutForAnswer) { [self] outcome in
            isChecking = false
            if outcome == .timedOut { close(.late) }
        }
    }

    /// The same a second from now, if the other machine has not acknowledged all that was sent until then.
    func checkAliveSoon() {
        guard checkTimer?.isArmed != true else { return }
        checkTimer = loop.timer(after: Self.timeoutForAnswer) { [unowned self] in
            if isUnacknowledged { checkAlive() }
        }
    }

    /// Whether the other machine has not acknowledged all that was sent, which its kernel does within milliseconds.
    var isUnacknowledged: Bool { isEstablished && connection?.isUnacknowledged == true }

    /// Ends the link if the other machine has not acknowledged what was sent some seconds ago: then it is not there any more, as
    /// when one of the two has another address now.
    func endIfUnacknowledged() {
        if isUnacknowledged { close(.late) }
    }

    /// Answers a request of the other side.
    package func respond(to id: Int64, with outcome: PeerResponse.Outcome) {
        lastUse = loop.now
        step { $0.respond(to: id, with: outcome) }
    }

    /// Tells the other side something; false when it cannot be told over this link.
    func notify(_ method: String, _ parameters: JSONObject) -> Bool {
        sends(machine.notify(method, parameters))
    }

    /// Sends statements; nothing happens before both sides have accepted each other.
    func sendStatements(_ statements: [UInt8]) {
        perform(machine.sendStatements(statements))
    }

    /// Sends the account key in force; the caller has checked that the device is live in the stored roster.
    func sendEpochKey(_ body: [UInt8]) {
        perform(machine.sendEpochKey(body))
    }

    /// Says what this device says of itself now, the number of its announcement included: the other side then asks for what it
    /// lacks. Not too often, and the last state always.
    ///
    /// - Returns: false when it cannot be said over this link.
    func sayHello() -> Bool {
        guard isEstablished else { return false }
        guard helloTimer?.isArmed != true else { return true }
        let wait = lastSaid.map { max(.zero, loop.now.duration(to: $0.at.advanced(by: Self.helloSpacing))) } ?? .zero
        // In a later turn: statements that are sent in this one go before it.
        helloTimer = loop.timer(after: wait) { [unowned self] in sayHelloNow() }
        return true
    }

    private var latestHello: Hello? { peers?.network.hello(to: device) }

    /// The same at once, before the link is closed.
    func sayHelloNow() {
        guard isEstablished, let hello = latestHello else { return }
        machine.hello = hello
        lastSaid = (hello, loop.now)
        perform(machine.sendHello())
    }

    /// Our roster, epoch, label or port may be another one now: the other side hears of it.
    func accountChanged() {
        guard isEstablished, let hello = latestHello, let last = lastSaid?.hello else { return }
        let isSame =
            hello.rosterDigest == last.rosterDigest && hello.epoch == last.epoch && hello.label == last.label
            && hello.port == last.port && hello.kind == last.kind
        if !isSame { _ = sayHello() }
    }

    private var now: MonotonicInstant { loop.now }

    /// Asks the machine where it is: a getter of another module would be given a copy of it, of a dozen references.
    private func look<Value>(_ property: (inout PeerSessionMachine) -> Value) -> Value { property(&machine) }

    private func sends(_ actions: [SessionAction]) -> Bool {
        guard !hasEnded, !actions.isEmpty else { return false }
        lastUse = loop.now
        perform(actions)
        return true
    }

    private func step(_ event: (inout PeerSessionMachine) -> [SessionAction]) {
        // A call takes a while, in which the label or the epoch may become another: what is said is what holds then.
        if !look({ $0.isEstablished }), let hello = latestHello {
            machine.hello = hello
        }
        let actions = event(&machine)
        for case .send(let frame) in actions where frame.kind == .hello { lastSaid = (machine.hello, loop.now) }
        perform(actions)
    }

    private func perform(_ actions: [SessionAction]) {
        // All frames of one step leave in one record and one segment.
        var frames: [Frame] = []
        for action in actions {
            // What one action led to may have ended the link, as when its device is no longer live: nothing that it has
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
        connection?.send(frames)
        frames.removeAll(keepingCapacity: true)
    }

    private func performOne(_ action: SessionAction) {
        switch action {
        case .send: break
        case .merge(let statements, let delay): merge(statements, after: delay)
        case .establish(let hello):
            peers?.established(self, hello)
            // What has become another thing since it was said.
            loop.later { [weak self] in self?.accountChanged() }
            tellWaiters(true)
        case .raiseBoot(let seen): peers?.delegate?.raiseGeneration(above: seen)
        case .renew(let hello): peers?.received(hello, over: self)
        case .takeEpochKey(let body): peers?.sync.takeEpochKey(self, body)
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
                // What is stored after the end of the daemon has nobody to tell.
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
        patience = nil
        let rest = event(&machine)
        connection?.onBytes = nil
        connection?.onClosed = nil
        connection?.close(trouble ?? "done")
        connection = nil
        for case .complete(let id, let outcome) in rest { completions.removeValue(forKey: id)?(outcome) }
        for completion in completions.values { completion(.lost) }
        completions.removeAll()
        tellWaiters(false)
        peers?.ended(self)
        let endHandlers = self.endHandlers
        self.endHandlers = []
        for endHandler in endHandlers { endHandler() }
    }

    private func tellWaiters(_ isEstablished: Bool) {
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
