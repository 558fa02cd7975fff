import Glibc
import HandoffControl
import HandoffJSON
import LoopIO

/// The server that a connection belongs to. On the daemon's loop.
protocol ControlConnectionDelegate: AnyObject {
    /// Serves a call.
    func serve(_ call: VarlinkCall, _ id: VarlinkCallID, of connection: ControlConnection)
    /// The connection is of no more use to the server; the reason is for the log.
    func ended(_ connection: ControlConnection, _ reason: VarlinkServerMachine.Reason)
    /// The connection has become a raw stream; `ended` follows at its end.
    func upgraded(_ stream: UpgradedStream, of connection: ControlConnection)
}

/// One connection of a control socket: performs what its `VarlinkServerMachine` asks for. On the daemon's loop only.
final class ControlConnection {
    let client: ClientIdentity
    private let loop: EventLoop
    private let limits: ControlLimits
    private let stream: ByteStream
    /// Nil once the connection has ended.
    private weak var delegate: (any ControlConnectionDelegate)?
    private var machine = VarlinkServerMachine()
    /// What is still to be done. A handler may answer while an action is performed; what follows from that comes after.
    private var actions = ActionQueue()
    private var isPerforming = false
    /// The call that was dispatched and waits for its last answer.
    private var openCall: ControlCall?
    private var upgradedStream: UpgradedStream?
    /// Whether the client has shut its side down.
    private var hasClientEnded = false
    /// Watches for the client's end while nothing is read, when the stream itself would not notice it.
    private var hangUp: HangUpWatch?
    private var writeTimer: LoopTimer?
    /// Bytes that were to be sent so far, and how many of them the client had taken when the timer was armed.
    private var written = 0
    private var takenAtTimer = 0
    /// What the client has passed last; three are kept, so that a call can tell one or two from several.
    private var passed: [PassedFile] = []

    /// Takes over a connected socket.
    init(
        _ descriptor: consuming Descriptor, client: ClientIdentity, on loop: EventLoop, limits: ControlLimits,
        delegate: any ControlConnectionDelegate
    ) throws(Errno) {
        self.client = client
        self.loop = loop
        self.limits = limits
        self.delegate = delegate
        stream = try ByteStream(descriptor, on: loop)
        stream.onEnd = { [weak self] in
            self?.hasClientEnded = true
            self?.perform { $0.receivedEnd() }
        }
        stream.onError = { [weak self] _ in self?.perform { $0.lost() } }
        // What was held back until now goes on.
        stream.onDrained = { [weak self] in self?.perform { _ in [] } }
        stream.onPassed = { [weak self] files in
            guard let self else { return }
            passed = Array((passed + files).prefix(3))
        }
        stream.passer = client.group.source
        stream.onPassedTooMany = { [weak self] in self?.dropHoarder() }
        stream.onRead = { [weak self] bytes in self?.perform { $0.received(bytes) } }
    }

    /// The descriptors that the client has passed with the call that is being served; once.
    func takePassed() -> [PassedFile] {
        defer { passed = [] }
        return passed
    }

    // MARK: - Answers

    func reply(to id: VarlinkCallID, _ parameters: JSONObject) {
        openCall = nil
        perform { $0.reply(to: id, parameters, continues: false) }
    }

    func replyContinuing(to id: VarlinkCallID, _ parameters: JSONObject) {
        perform { $0.reply(to: id, parameters, continues: true) }
    }

    func fail(_ id: VarlinkCallID, _ error: String, _ parameters: JSONObject) {
        openCall = nil
        perform { $0.fail(id, error: error, parameters: parameters) }
    }

    func upgrade(_ id: VarlinkCallID, _ parameters: JSONObject) -> UpgradedStream? {
        openCall = nil
        // Performed at once even inside a handler: the stream is wanted now, and nothing can be queued before it.
        actions.append(machine.upgrade(id, parameters))
        performActions()
        return upgradedStream
    }

    /// Ends the connection after what was answered so far; an open call is abandoned.
    func end() {
        perform { $0.end() }
    }

    // MARK: - Actions

    private func perform(_ step: (inout VarlinkServerMachine) -> [VarlinkServerMachine.Action]) {
        actions.append(step(&machine))
        guard !isPerforming else { return }
        isPerforming = true
        performActions()
        isPerforming = false
        updateReading()
    }

    private func performActions() {
        // A client that does not take its answers gets no further ones made, unless the connection ends.
        while !(isBehind && actions.isDispatchAlone), let action = actions.next() { perform(action) }
    }

    /// Whether so much waits for the client that `onDrained` is going to say when it has fallen.
    private var isBehind: Bool {
        stream.pendingWriteBytes > ByteStream.Marks().high
    }

    private func perform(_ action: VarlinkServerMachine.Action) {
        switch action {
        case .dispatch(let call, let id): delegate?.serve(call, id, of: self)
        case .send(let bytes): send(bytes)
        case .abandon: abandonCall()
        case .upgrade: handOver()
        case .close(let reason): close(reason)
        }
    }

    /// Remembers a call that waits for its answer, so that it learns of the client's end.
    func track(_ call: ControlCall) {
        openCall = call
    }

    private func abandonCall() {
        let call = openCall
        openCall = nil
        call?.abandon()
    }

    private func send(_ bytes: [UInt8]) {
        let waiting = stream.pendingWriteBytes
        guard waiting == 0 || waiting + bytes.count <= limits.waitingBytes else { return dropSlowClient() }
        written &+= bytes.count
        stream.write(bytes)
        armWriteTimer()
    }

    /// Ends a connection whose client does not read, with an error that it finds should it ever read on.
    private func dropSlowClient() {
        drop("waitingBytes", "the client does not read what it is told") { $0.end(error: $1, parameters: $2) }
    }

    /// Ends a connection over which more descriptors were passed than may wait to be closed.
    private func dropHoarder() {
        isPerforming = true
        drop(
            "descriptors",
            "\(DescriptorCloser.limitOfSource) descriptors that this app has passed are not closed yet: closing them hangs, "
                + "as of sockets that linger and files whose server does not answer"
        ) { $0.refusedInput(error: $1, parameters: $2) }
        isPerforming = false
    }

    /// Ends a connection whose client has passed a limit.
    private func drop(
        _ limit: String, _ message: String,
        _ step: (inout VarlinkServerMachine, String, JSONObject) -> [VarlinkServerMachine.Action]
    ) {
        let isApp = openCall.map { !$0.method.hasPrefix(ControlNames.controlInterface + ".") } ?? true
        let name = isApp ? AppErrorName.limitExceeded.rawValue : ControlErrorName.limitExceeded.rawValue
        let ending = step(&machine, name, ["limit": .string(limit), "message": .string(message)])
        // What was to be sent before is what there is no room for.
        actions = ActionQueue()
        for action in ending {
            if case .send(let bytes) = action { stream.write(bytes) } else { perform(action) }
        }
    }

    private func handOver() {
        let upgraded = UpgradedStream(stream, of: self, on: loop, hasEnded: hasClientEnded)
        upgradedStream = upgraded
        stream.onPassedTooMany = nil
        writeTimer = nil
        hangUp = nil
        stream.resumeReading()
        delegate?.upgraded(upgraded, of: self)
    }

    /// The stream that it has become is of no more use.
    func upgradedStreamEnded() {
        upgradedStream = nil
        let delegate = self.delegate
        self.delegate = nil
        delegate?.ended(self, .clientEnded)
    }

    private func close(_ reason: VarlinkServerMachine.Reason) {
        hangUp = nil
        writeTimer = nil
        let waits = stream.pendingWriteBytes > 0
        switch reason {
        case .connectionLost: stream.close()
        case .protocolViolation, .bytesAfterUpgradeCall:
            // Nothing that it still sends is of interest.
            waits ? stream.finish(within: limits.closingTimeout) : stream.close()
        case .ended: stream.finish(within: limits.closingTimeout)
        case .clientEnded: stream.finish(within: limits.writeTimeout)
        }
        let delegate = self.delegate
        self.delegate = nil
        delegate?.ended(self, reason)
    }

    // MARK: - Interest and time

    /// Reads while the machine wants calls and the client takes the answers; otherwise watches for its end alone.
    private func updateReading() {
        guard delegate != nil, upgradedStream == nil else { return }
        if machine.wantsInput, !isBehind {
            hangUp = nil
            stream.resumeReading()
        } else {
            stream.pauseReading()
            guard hangUp == nil, let raw = stream.rawDescriptor else { return }
            hangUp = HangUpWatch(raw, on: loop) { [weak self] in self?.perform { $0.lost() } }
        }
    }

    private func armWriteTimer() {
        guard stream.pendingWriteBytes > 0, writeTimer?.isArmed != true, delegate != nil else { return }
        takenAtTimer = taken
        if let writeTimer {
            writeTimer.rearm(after: limits.writeTimeout)
        } else {
            writeTimer = loop.timer(after: limits.writeTimeout, accuracy: .seconds(1)) { [weak self] in
                self?.writeTimePassed()
            }
        }
    }

    private var taken: Int {
        written &- stream.pendingWriteBytes
    }

    /// Drops a client that has taken nothing since the timer was armed.
    private func writeTimePassed() {
        guard stream.pendingWriteBytes > 0 else { return }
        guard taken == takenAtTimer else { return armWriteTimer() }
        isPerforming = true
        dropSlowClient()
        isPerforming = false
    }
}
