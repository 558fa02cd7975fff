import HandoffTLS
import HandoffTransport
import LoopIO

/// One call to an inviter, at all its addresses: the first at which TLS is set up wins. Used on its loop's thread only;
/// dropping it cancels it.
final class PairingDial {
    /// How a call went.
    enum Outcome {
        /// TLS is set up at one address, with the bytes that bind to it what is sent inside.
        case open(PairingConnection, exporter: [UInt8])
        /// It is at none; why, for each that was tried.
        case failed([ConnectionEnd])
    }

    private final class Attempt {
        var connecting: Connecting?
        var connection: PairingConnection?
    }

    private let context: TLSContext
    private let limits: PairingLimits
    private let loop: EventLoop
    /// What stands before a ClientHello of this call.
    private let token: ((_ clientHello: [UInt8]) -> [UInt8]?)?
    private var candidates: ArraySlice<SocketAddress>
    private var attempts: [Attempt] = []
    private var failures: [ConnectionEnd] = []
    private var headStart: LoopTimer?
    private var deadline: LoopTimer?
    private var completion: ((Outcome) -> Void)?

    /// Starts to call.
    ///
    /// - Parameters:
    ///   - context: TLS in the role of the joiner.
    ///   - token: what the link puts before a ClientHello record, or nil when another record is needed; nil without a
    ///     link.
    ///   - completion: called once, never from inside this call.
    init(
        _ candidates: [SocketAddress], context: TLSContext, limits: PairingLimits, on loop: EventLoop,
        token: ((_ clientHello: [UInt8]) -> [UInt8]?)?, completion: @escaping (Outcome) -> Void
    ) {
        self.context = context
        self.limits = limits
        self.loop = loop
        self.token = token
        self.candidates = candidates[...]
        self.completion = completion
        deadline = loop.timer(after: limits.call) { [weak self] in self?.deadlinePassed() }
        headStart = loop.timer(after: limits.headStart) { [weak self] in self?.startNext() }
        startNext()
    }

    deinit {
        cancel()
    }

    /// Ends the call; the completion is not called.
    func cancel() {
        completion = nil
        for attempt in attempts { drop(attempt) }
        attempts = []
        headStart?.cancel()
        deadline?.cancel()
    }

    private func startNext() {
        guard completion != nil, let address = candidates.popFirst() else { return endIfNothingIsLeft() }
        if !candidates.isEmpty { headStart?.rearm(after: limits.headStart) }
        let attempt = Attempt()
        attempts.append(attempt)
        attempt.connecting = TCP.connect(to: address, on: loop) { [weak self, weak attempt] result in
            guard let self, let attempt else { return }
            switch consume result {
            case .success(let descriptor): self.shakeHands(attempt, descriptor, address)
            case .failure(let error): self.ended(attempt, .socket(error))
            }
        }
    }

    private func shakeHands(_ attempt: Attempt, _ descriptor: consuming Descriptor, _ address: SocketAddress) {
        attempt.connecting = nil
        do {
            let stream = try ByteStream(descriptor, on: loop)
            let (session, opening) = try makeSession()
            let connection = PairingConnection(stream: stream, session: session, remoteAddress: address)
            attempt.connection = connection
            connection.onOpen = { [weak self, weak attempt, weak connection] exporter in
                guard let self, let attempt, let connection else { return }
                attempt.connection = nil
                connection.onClosed = nil
                self.complete(.open(connection, exporter: exporter))
            }
            connection.onClosed = { [weak self, weak attempt] end in
                guard let self, let attempt else { return }
                self.ended(attempt, end)
            }
            connection.greet(opening)
        } catch {
            ended(attempt, (error as? Errno).map(ConnectionEnd.socket) ?? .closedHere("\(error)"))
        }
    }

    /// A session with its opening. About one ClientHello in 256 has no token that can be told from a record.
    private func makeSession() throws -> (TLSSession, opening: [UInt8]) {
        while true {
            let session = try TLSSession(context: context, accepts: { _ in true })
            let clientHello = session.start() ?? []
            guard let token else { return (session, clientHello) }
            if let bytes = token(clientHello) { return (session, bytes + clientHello) }
        }
    }

    private func ended(_ attempt: Attempt, _ end: ConnectionEnd) {
        attempts.removeAll { $0 === attempt }
        failures.append(end)
        // Its successor need not wait any longer.
        startNext()
    }

    private func endIfNothingIsLeft() {
        guard attempts.isEmpty, completion != nil else { return }
        // In a later turn: this may be inside `init`.
        loop.later { [weak self] in
            guard let self, self.attempts.isEmpty else { return }
            self.complete(.failed(self.failures))
        }
    }

    private func deadlinePassed() {
        complete(.failed(failures + attempts.map { _ in .timedOut }))
    }

    private func complete(_ outcome: Outcome) {
        let completion = self.completion
        cancel()
        completion?(outcome)
    }

    private func drop(_ attempt: Attempt) {
        attempt.connecting?.cancel()
        attempt.connection?.abort()
    }
}
