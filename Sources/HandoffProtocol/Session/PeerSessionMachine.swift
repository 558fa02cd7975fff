package import HandoffModel

/// One connection between two devices after TLS. It defines when each frame is permitted, its
/// maximum size and its meaning. The driver moves bytes, merges rosters and responds to requests.
///
/// docs/state-machines/peer-session.md shows the states.
package struct PeerSessionMachine: Sendable {
    enum State: Sendable, Equatable {
        /// The connection is being established. Requests wait.
        case connecting

        /// The client has sent everything it may send first, and trusts nothing before the server's
        /// hello.
        case awaitingHello(since: MonotonicInstant)

        /// The server waits for statements from a device that is not live.
        case introducing(since: MonotonicInstant, isReading: Bool)

        /// The server waits for the hello of a live device.
        case expectingHello(since: MonotonicInstant, isReading: Bool)

        /// The driver is merging statements. Bytes that arrived after them wait.
        case merging(Resumption)

        /// Both sides have sent their hello.
        case established

        /// Nothing more is sent or read.
        case closed
    }

    /// The continuation after a merge.
    enum Resumption: Sendable, Equatable {
        /// The device was not live, and must be live now.
        case introduction

        /// A live device has not sent its hello yet.
        case hello

        case session
    }

    /// A request that was sent and has no response yet.
    struct Pending: Sendable, Equatable {
        let deadline: MonotonicInstant?
    }

    /// The maximum wait for the first bytes after TLS.
    static let firstFrameTimeout = Duration.seconds(1)

    /// The maximum wait for all statements of a device that is not live.
    static let introductionTimeout = Duration.seconds(2)

    /// The maximum wait for the hello of a live device that has started to send. Its statements may
    /// precede it.
    static let helloTimeout = Duration.seconds(5)

    /// The maximum number of open requests from the peer.
    package static let maxOpenRequests = 32

    /// The peer, as proved by its certificate.
    package let device: DeviceID

    package let role: SessionRole

    var state = State.connecting
    var decoder = FrameDecoder(caps: .nothing)

    /// Reserved values that this side sends in all its messages, and in a separate frame after the
    /// hellos.
    let grease: Grease?

    /// This device's current information. The driver keeps it up to date.
    package var hello: Hello

    /// The peer's latest hello; nil until one arrives.
    package internal(set) var peerHello: Hello?

    /// Requests that wait for the connection (client) or for the peer's hello (server).
    var waiting: [Frame] = []

    var pending: [Int64: Pending] = [:]
    var lastRequestID: Int64 = 0
    var openRequests: Set<Int64> = []
    var lastInboundID: Int64 = 0

    /// Creates the session of a connection to or from `device` that is being established. `hello`
    /// is what this side will send.
    package init(device: DeviceID, role: SessionRole, hello: Hello, grease: Grease? = nil) {
        self.device = device
        self.role = role
        self.hello = hello
        self.grease = grease
    }

    /// True from the exchange of hellos until the end.
    package var isEstablished: Bool {
        switch state {
        case .established, .merging(.session): true
        case .connecting, .awaitingHello, .introducing, .expectingHello, .merging, .closed: false
        }
    }

    /// True until the statements of a device that was not live have made it live. Nothing else is
    /// accepted from it.
    package var isIntroducing: Bool {
        switch (role, state) {
        case (.server(isLive: false), .connecting), (_, .introducing), (_, .merging(.introduction)): true
        default: false
        }
    }

    /// The number of received bytes that are not a complete frame yet or wait for a merge.
    package var bufferedBytes: Int { decoder.buffered }

    /// False while input would only accumulate. The driver then stops reading.
    package var wantsInput: Bool {
        switch state {
        case .awaitingHello, .introducing, .expectingHello, .established: true
        case .connecting, .merging, .closed: false
        }
    }

    /// True if nothing is open in either direction, so that an idle connection may be closed.
    package var isIdle: Bool {
        pending.isEmpty && openRequests.isEmpty && state == .established
    }

    /// The next time at which ``deadlinePassed(at:)`` has work.
    package var nextDeadline: MonotonicInstant? {
        let requests = pending.values.compactMap(\.deadline).min()
        return [stateDeadline, requests].compactMap { $0 }.min()
    }

    /// Handles the end of the TLS handshake. A client sends its statements, if it passes any, then
    /// its hello and the waiting requests.
    ///
    /// - Parameter statements: The statements that the peer probably lacks.
    package mutating func connected(statements: [UInt8]? = nil, at now: MonotonicInstant) -> [SessionAction] {
        switch state {
        case .connecting: break
        case .awaitingHello, .introducing, .expectingHello, .merging, .established, .closed:
            // Only a driver error leads here: TLS completes once.
            preconditionFailure("connected in state \(state)")
        }
        switch role {
        case .client:
            var actions: [SessionAction] = []
            if let statements { actions.append(.send(Frame(.statements, statements))) }
            actions.append(.send(Frame(.hello, hello.encoded(grease))))
            actions += sendWaiting()
            enter(.awaitingHello(since: now))
            return actions
        case .server(let isLive):
            let first: State =
                isLive ? .expectingHello(since: now, isReading: false) : .introducing(since: now, isReading: false)
            enter(first)
            return []
        }
    }

    /// Performs the work that is due at ``nextDeadline``: ends the session if the peer is late, and
    /// completes requests that timed out.
    package mutating func deadlinePassed(at now: MonotonicInstant) -> [SessionAction] {
        if let deadline = stateDeadline, deadline <= now { return end(.late) }
        let late = pending.filter { $0.value.deadline.map { $0 <= now } ?? false }.keys.sorted()
        return late.map { id in
            pending[id] = nil
            return .complete(id: id, .timedOut)
        }
    }

    /// Handles a connection that ended or could not be established.
    package mutating func connectionEnded() -> [SessionAction] {
        finish()
    }

    /// Ends the session, because it is no longer needed or the peer is no longer live.
    package mutating func close(_ reason: SessionEnd = .done) -> [SessionAction] {
        state == .closed ? [] : end(reason)
    }

    /// Ends the session for a local reason.
    mutating func end(_ reason: SessionEnd) -> [SessionAction] {
        let completions = finish()
        return [.close(reason)] + completions
    }

    /// Enters a state and applies its frame limits.
    mutating func enter(_ next: State) {
        state = next
        switch next {
        case .connecting, .closed: decoder.allow(.nothing)
        case .awaitingHello: decoder.allow(.helloOnly)
        case .introducing, .merging(.introduction): decoder.allow(.introduction)
        case .expectingHello, .merging(.hello): decoder.allow(.beforeHello)
        case .established, .merging(.session): decoder.allow(.live)
        }
    }

    /// Sends the frames that waited for the connection or for the peer's hello.
    mutating func sendWaiting() -> [SessionAction] {
        defer { waiting = [] }
        return waiting.map { .send($0) }
    }

    private mutating func finish() -> [SessionAction] {
        enter(.closed)
        let lost = pending.keys.sorted()
        pending = [:]
        waiting = []
        openRequests = []
        return lost.map { .complete(id: $0, .lost) }
    }

    private var stateDeadline: MonotonicInstant? {
        switch state {
        case .connecting, .merging, .established, .closed: nil
        case .awaitingHello(let since): since + Self.helloTimeout
        case .introducing(let since, let isReading):
            since + (isReading ? Self.introductionTimeout : Self.firstFrameTimeout)
        case .expectingHello(let since, let isReading):
            since + (isReading ? Self.helloTimeout : Self.firstFrameTimeout)
        }
    }
}

/// The role of this device in a connection.
package enum SessionRole: Sendable, Equatable {
    /// This device connected and sends first. The certificate is that of the intended device.
    case client

    /// This device accepted the connection. If `isLive` is false, the certificate is that of a
    /// device that must introduce itself with statements.
    case server(isLive: Bool)
}
