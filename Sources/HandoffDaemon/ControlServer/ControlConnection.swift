import Glibc
import HandoffControl
import HandoffJSON
import LoopIO

/// One connection of a control socket. Performs the actions of its `VarlinkServerMachine`. On the
/// daemon's loop only.
final class ControlConnection {
    let client: ClientIdentity
    private let loop: EventLoop
    private let limits: ControlLimits
    private let stream: ByteStream
    /// Nil once the connection has ended.
    private weak var server: ControlServer?
    private var machine = VarlinkServerMachine()
    /// Pending actions. A handler may answer while an action is performed; resulting actions are
    /// appended.
    private var actions = ActionQueue()
    private var isPerforming = false
    /// The dispatched call that waits for its last reply.
    private var openCall: ControlCall?
    private var upgradedStream: UpgradedStream?
    /// True if the client has shut down its side.
    private var hasClientEnded = false
    /// Detects the client's disconnection while nothing is read and the stream would not notice it.
    private var hangUp: HangUpWatch?
    private var writeTimer: LoopTimer?
    /// Number of bytes written so far, and how many of them the client had read when the timer was
    /// armed.
    private var written = 0
    private var takenAtTimer = 0
    /// Descriptors passed by the client. Three are kept, so that a call can distinguish one or two
    /// from more.
    private var passed: [PassedFile] = []

    /// Creates the connection of a connected socket.
    init(
        _ descriptor: consuming Descriptor, client: ClientIdentity, on loop: EventLoop, limits: ControlLimits,
        server: ControlServer
    ) throws(Errno) {
        self.client = client
        self.loop = loop
        self.limits = limits
        self.server = server
        stream = try ByteStream(descriptor, on: loop)
        stream.onEnd = { [weak self] in
            self?.hasClientEnded = true
            self?.perform { $0.receivedEnd() }
        }
        stream.onError = { [weak self] _ in self?.perform { $0.lost() } }
        // Resumes delayed actions.
        stream.onDrained = { [weak self] in self?.perform { _ in [] } }
        stream.onPassed = { [weak self] files in
            guard let self else { return }
            passed = Array((passed + files).prefix(3))
        }
        stream.passer = client.group.source
        stream.onTooManyPassed = { [weak self] in self?.dropDescriptorHoarder() }
        stream.onRead = { [weak self] bytes in self?.perform { $0.received(bytes) } }
    }

    /// Returns the descriptors passed with the call being served, once.
    func takePassed() -> [PassedFile] {
        defer { passed = [] }
        return passed
    }

    // MARK: - Replies

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
        // Performed immediately even inside a handler: the caller needs the stream now, and no
        // action can precede it.
        actions.append(machine.upgrade(id, parameters))
        performActions()
        return upgradedStream
    }

    /// Ends the connection after the pending replies. An open call is abandoned.
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
        // A client that does not read its replies gets no further calls served, unless the
        // connection ends.
        while !(isBehind && actions.isDispatchAlone), let action = actions.next() { perform(action) }
    }

    /// True if enough data waits for the client that `onDrained` will be called when it decreases.
    private var isBehind: Bool {
        stream.pendingWriteBytes > ByteStream.Marks().high
    }

    private func perform(_ action: VarlinkServerMachine.Action) {
        switch action {
        case .dispatch(let call, let id): server?.serve(call, id, of: self)
        case .send(let bytes): send(bytes)
        case .abandon: abandonCall()
        case .upgrade: handOver()
        case .close(let reason): close(reason)
        }
    }

    /// Stores the call that waits for its reply, so that it is notified if the client disconnects.
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

    /// Ends a connection whose client does not read, with an error for the case that it reads
    /// later.
    private func dropSlowClient() {
        drop("waitingBytes", "the client does not read its replies") { $0.end(error: $1, parameters: $2) }
    }

    /// Ends a connection on which more descriptors were passed than may wait to be closed.
    private func dropDescriptorHoarder() {
        isPerforming = true
        drop(
            "descriptors",
            "\(DescriptorCloser.limitPerSource) descriptors passed by this app are still being closed: closing them "
                + "blocks, for example for sockets that linger and files whose server does not respond"
        ) { $0.refusedInput(error: $1, parameters: $2) }
        isPerforming = false
    }

    /// Ends a connection whose client has exceeded a limit.
    private func drop(
        _ limit: String, _ message: String,
        _ step: (inout VarlinkServerMachine, String, JSONObject) -> [VarlinkServerMachine.Action]
    ) {
        let isApp = openCall.map { !$0.method.hasPrefix(ControlNames.controlInterface + ".") } ?? true
        let name = isApp ? AppErrorName.limitExceeded.rawValue : ControlErrorName.limitExceeded.rawValue
        let ending = step(&machine, name, ["limit": .string(limit), "message": .string(message)])
        // Discard pending data, for which there is no room.
        actions = ActionQueue()
        for action in ending {
            if case .send(let bytes) = action { stream.write(bytes) } else { perform(action) }
        }
    }

    private func handOver() {
        let upgraded = UpgradedStream(stream, of: self, on: loop, hasEnded: hasClientEnded)
        upgradedStream = upgraded
        stream.onTooManyPassed = nil
        writeTimer = nil
        hangUp = nil
        stream.resumeReading()
        server?.upgraded(upgraded, of: self)
    }

    /// Called when the raw stream has ended.
    func upgradedStreamEnded() {
        upgradedStream = nil
        let server = self.server
        self.server = nil
        server?.ended(self, .clientEnded)
    }

    private func close(_ reason: VarlinkServerMachine.Reason) {
        hangUp = nil
        writeTimer = nil
        let waits = stream.pendingWriteBytes > 0
        switch reason {
        case .connectionLost: stream.close()
        case .protocolViolation, .bytesAfterUpgradeCall:
            // Further data from the client is ignored.
            waits ? stream.finish(within: limits.closingTimeout) : stream.close()
        case .ended: stream.finish(within: limits.closingTimeout)
        case .clientEnded: stream.finish(within: limits.writeTimeout)
        }
        let server = self.server
        self.server = nil
        server?.ended(self, reason)
    }

    // MARK: - Reading and timeouts

    /// Reads while the machine accepts calls and the client reads replies. Otherwise only watches
    /// for its disconnection.
    private func updateReading() {
        guard server != nil, upgradedStream == nil else { return }
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
        guard stream.pendingWriteBytes > 0, writeTimer?.isArmed != true, server != nil else { return }
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

    /// Drops a client that has read nothing since the timer was armed.
    private func writeTimePassed() {
        guard stream.pendingWriteBytes > 0 else { return }
        guard taken == takenAtTimer else { return armWriteTimer() }
        isPerforming = true
        dropSlowClient()
        isPerforming = false
    }
}
