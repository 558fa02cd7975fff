import Dispatch
import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import HandoffTransport
import LoopIO
import Synchronization
import Testing

/// Two devices of one account on one loop, with real sockets and real TLS. Time advances only when
/// a test advances it.
///
/// The loop belongs to the test's thread and runs inside `run(until:)`, so that all events of a
/// test occur in order.
final class TransportFixture: GateListenerDelegate {
    /// Called with the connections that have passed the gate.
    var onConnection: ((PeerConnection) -> Void)?
    let clock = ManualClock()
    let loop: EventLoop
    let serverKey: SigningKey
    let clientKey: SigningKey
    let gateKey: SecretBytes
    let label: Label
    /// Returns true if the server's TLS accepts a key; by default the client's.
    var serverAccepts: @Sendable (PublicKey) -> Bool
    /// The recorded events, in order.
    private(set) var events: [String] = []
    private var seen = SeenTokens()

    init() throws {
        loop = try EventLoop(clock: clock)
        serverKey = try SigningKey()
        clientKey = try SigningKey()
        gateKey = try SecretBytes(random: 32)
        label = try .random(labelKey: SecretBytes(random: 32))
        let expected = clientKey.publicKey
        serverAccepts = { $0 == expected }
    }

    /// Creates a gate on a free port of 127.0.0.1 that accepts each token of this account once.
    func listen(_ limits: TransportLimits = TransportLimits()) throws -> GateListener {
        let socket = try BoundPort.bindTCP(port: 0, address: .loopbackIPv4)
        let context = try TLSContext(identity: TLSIdentity(key: serverKey), role: .server)
        return try GateListener(socket, context: context, limits: limits, on: loop, delegate: self)
    }

    func judge(_ token: [UInt8], _ clientHello: [UInt8], from source: IPAddress) -> GateVerdict? {
        let server = DeviceID(serverKey.publicKey)
        guard var knock = Knock(token, clientHello, to: server),
            knock.hint == Gate.pairHint(key: gateKey, label: label, server: server),
            knock.isMade(with: gateKey, under: label), seen.insert(knock.tag)
        else { return nil }
        return GateVerdict(accepts: serverAccepts)
    }

    func rejectedEarlierDraft(_ token: [UInt8], _ clientHello: [UInt8]) {
        note("refused a former token of \(token.count)")
    }

    func passed(_ connection: PeerConnection) {
        onConnection?(connection)
    }

    func dialer(_ limits: TransportLimits = TransportLimits()) throws -> Dialer {
        let context = try TLSContext(identity: TLSIdentity(key: clientKey), role: .client)
        return Dialer(context: context, limits: limits, on: loop)
    }

    /// Returns the server at these addresses as a target, called by its label.
    func target(_ candidates: [SocketAddress]) -> DialTarget {
        let expected = serverKey.publicKey
        return DialTarget(
            candidates: candidates,
            token: { [gateKey, label] in
                Gate.token(
                    key: gateKey, hint: .pair, serial: Gate.Serial(generation: 1, call: 1), label: label,
                    Gate.Greeting($0, to: DeviceID(expected)))
            },
            accepts: { $0 == expected })
    }

    /// Returns a client session with its greeting, for tests that write to the socket themselves.
    func greeting() throws -> (session: TLSSession, bytes: [UInt8]) {
        let context = try TLSContext(identity: TLSIdentity(key: clientKey), role: .client)
        let session = try TLSSession(context: context, accepts: { _ in true })
        let hello = try #require(session.start())
        let token = try #require(target([]).token(hello))
        return (session, token + hello)
    }

    /// Opens a connection, and returns both sides.
    func connect(
        _ limits: TransportLimits = TransportLimits()
    ) throws -> (client: PeerConnection, server: PeerConnection, listener: GateListener) {
        let listener = try listen(limits)
        var server: PeerConnection?
        var client: PeerConnection?
        onConnection = { [unowned self] connection in
            server = connection
            connection.onOpen = { [unowned self] _ in note("server open") }
        }
        let dial = try dialer(limits).dial(target([try #require(listener.localAddress)])) { [unowned self] result in
            client = try? result.get()
            note("client open")
        }
        try run(until: "server open", "client open")
        dial.cancel()
        return (try #require(client), try #require(server), listener)
    }

    /// Records an event and checks if it was the last awaited one.
    func note(_ event: String) {
        events.append(event)
        loop.stop()
    }

    /// Records the end of a connection and its frames, prefixed with the given name. `onFrame`
    /// receives the frames too.
    func watch(_ connection: PeerConnection, _ name: String, onFrame: ((Frame) -> Void)? = nil) {
        var decoder = FrameDecoder(caps: .live)
        connection.onBytes = { [unowned self] bytes in
            decoder.append(bytes)
            while let frame = try? decoder.next() {
                onFrame?(frame)
                note("\(name) got \(frame.code):\(frame.body.count)")
            }
        }
        connection.onClosed = { [unowned self] in note("\(name) ended: \($0)") }
    }

    /// Runs the loop until all these events were recorded.
    func run(until awaited: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        try run(sourceLocation) { events in awaited.allSatisfy(events.contains) }
    }

    /// Runs the loop until `isDone` returns true for the events so far. Checked after each event.
    func run(
        _ sourceLocation: SourceLocation = #_sourceLocation, until isDone: ([String]) -> Bool
    ) throws {
        let isLate = Atomic(false)
        let guardian = DispatchWorkItem { [loop] in
            isLate.store(true, ordering: .relaxed)
            loop.stop()
        }
        // Only for a test that would hang. Tests do not depend on real time otherwise.
        DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: guardian)
        defer { guardian.cancel() }
        while !isDone(events) {
            let isHanging = isLate.load(ordering: .relaxed)
            try #require(!isHanging, "no further event after \(events)", sourceLocation: sourceLocation)
            try loop.run()
        }
    }

    /// Lets the loop handle all ready events: returns after a byte has passed through a separate
    /// socket pair and back.
    func settle() throws {
        let pair = try Descriptor.socketPair()
        let near = try ByteStream(pair.first, on: loop)
        let far = try ByteStream(pair.second, on: loop)
        var rounds = 0
        far.onRead = { far.write($0) }
        near.onRead = { [unowned self] bytes in
            rounds += 1
            if rounds < 20 { near.write(bytes) } else { note("settled") }
        }
        near.write([0])
        let before = events.count { $0 == "settled" }
        try run { $0.count { $0 == "settled" } > before }
        near.close()
        far.close()
    }
}
