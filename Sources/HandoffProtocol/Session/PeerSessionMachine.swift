package import HandoffModel
package import Timing

/// One connection between two devices after TLS: which frames may come when, how long they may be, and what they
/// mean. The driver moves bytes, merges rosters and answers requests.
///
/// docs/state-machines/peer-session.md shows the states.
package struct PeerSessionMachine: Sendable {
    enum State: Sendable, Equatable {
        /// The connection is being made; requests wait.
        case connecting

        /// The client has said all it may say alone, and believes nothing before the server's hello.
        case awaitingHello(since: MonotonicInstant)

        /// The server waits for statements of a device that is not live.
        case introducing(since: MonotonicInstant, isReading: Bool)

        /// The server waits for the hello of a live device.
        case expectingHello(since: MonotonicInstant, isReading: Bool)

        /// Statements are with the driver; what came behind them waits.
        case merging(Resumption)

        /// Both have said hello.
        case established

        /// Nothing is sent or read any more.
        case closed
    }

    /// What goes on after a merge.
    enum Resumption: Sendable, Equatable {
        /// A device that was not live: it must be now.
        case introduction

        /// A live device has not said hello yet.
        case hello

        /// The session goes on.
        case session
    }

    /// A request that was sent and not answered.
    struct Pending: Sendable, Equatable {
        let deadline: MonotonicInstant?
    }

    /// Time for the first bytes after TLS.
    package static let firstFramePatience = Duration.seconds(1)

    /// Time for all statements of a device that is not live.
    package static let introductionPatience = Duration.seconds(2)

    /// Time for the hello of a live device that has begun to send: its statements may come first.
    package static let helloPatience = Duration.seconds(5)

    /// Requests of the other side that may be open at a time.
    package static let maxOpenRequests = 32

    /// The device at the other end, as its certificate proved.
    package let device: DeviceID

    /// Which end this is.
    package let role: SessionRole

    var state = State.connecting
    var decoder = FrameDecoder(caps: .nothing)

    /// Reserved values that this side sends in all its messages, and in a frame of its own after the hellos.
    let grease: Grease?

    /// What this device says of itself now; the driver keeps it up to date.
    package var hello: Hello

    /// The other side's latest hello, once one came.
    package internal(set) var peerHello: Hello?

    /// Requests that wait for the connection (client) or for the other side's hello (server).
    var waiting: [Frame] = []

    var pending: [Int64: Pending] = [:]
    var lastRequestID: Int64 = 0
    var openRequests: Set<Int64> = []
    var lastInboundID: Int64 = 0

    /// A connection to or from `device` that is being made; `hello` is what this side will say.
    package init(device: DeviceID, role: SessionRole, hello: Hello, grease: Grease? = nil) {
        self.device = device
        self.role = role
        self.hello = hello
        self.grease = grease
    }

    /// True once both sides have said hello, until the end.
    package var isEstablished: Bool {
        switch state {
        case .established, .merging(.session): true
        case .connecting, .awaitingHello, .introducing, .expectingHello, .merging, .closed: false
        }
    }

    /// True until the statements of a device that was not live have made it so: nothing but they are taken from it.
    package var isIntroducing: Bool {
        switch (role, state) {
        case (.server(isLive: false), .connecting), (_, .introducing), (_, .merging(.introduction)): true
        default: false
        }
    }

    /// Bytes that have arrived and are not a whole frame yet, or wait for a merge.
    package var bufferedBytes: Int { decoder.buffered }

    /// False while bytes would only pile up: the driver stops reading then.
    package var wantsInput: Bool {
        switch state {
        case .awaitingHello, .introducing, .expectingHello, .established: true
        case .connecting, .merging, .closed: false
        }
    }

    /// True when nothing is open in either direction, so that an idle connection may be closed.
    package var isIdle: Bool {
        pending.isEmpty && openRequests.isEmpty && state == .established
    }

    /// The next moment at which ``deadlinePassed(at:)`` has something to do.
    package var nextDeadline: MonotonicInstant? {
        let requests = pending.values.compactMap(\.deadline).min()
        return [stateDeadline, requests].compactMap { $0 }.min()
    }

    /// TLS is done. A client speaks: statements first if it passes any, then hello, then the requests that wait.
    ///
    /// - Parameter statements: what the other side is thought to lack.
    package mutating func connected(statements: [UInt8]? = nil, at now: MonotonicInstant) -> [SessionAction] {
        switch state {
        case .connecting: break
        case .awaitingHello, .introducing, .expectingHello, .merging, .established, .closed:
            // The driver's mistake alone: TLS says once that it is done.
            preconditionFailure("connected in state \(state)")
        }
        switch role {
        case .client:
            var actions: [SessionAction] = []
            if let statements { actions.append(.send(Frame(.statements, statements))) }
            actions.append(.send(Frame(.hello, hello.encoded(grease))))
            actions += takeWaiting()
            enter(.awaitingHello(since: now))
            return actions
        case .server(let isLive):
            let first: State =
                isLive ? .expectingHello(since: now, isReading: false) : .introducing(since: now, isReading: false)
            enter(first)
            return []
        }
    }

    /// Time has come to ``nextDeadline``: a side that is late is left, and requests without an answer are given up.
    package mutating func deadlinePassed(at now: MonotonicInstant) -> [SessionAction] {
        if let deadline = stateDeadline, deadline <= now { return end(.late) }
        let late = pending.filter { $0.value.deadline.map { $0 <= now } ?? false }.keys.sorted()
        return late.map { id in
            pending[id] = nil
            return .complete(id: id, .timedOut)
        }
    }

    /// The connection ended under this side, or could not be made.
    package mutating func connectionEnded() -> [SessionAction] {
        finish()
    }

    /// This side ends the session: it has no more use for it, or the device is no longer live.
    package mutating func close(_ reason: SessionEnd = .done) -> [SessionAction] {
        state == .closed ? [] : end(reason)
    }

    /// Ends the session for a reason of this side.
    mutating func end(_ reason: SessionEnd) -> [SessionAction] {
        let completions = finish()
        return [.close(reason)] + completions
    }

    /// Moves to a state, with the caps that hold in it.
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

    /// Sends what waited for the connection, or for the other side's hello.
    mutating func takeWaiting() -> [SessionAction] {
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
        case .awaitingHello(let since): since + Self.helloPatience
        case .introducing(let since, let isReading):
            since + (isReading ? Self.introductionPatience : Self.firstFramePatience)
        case .expectingHello(let since, let isReading):
            since + (isReading ? Self.helloPatience : Self.firstFramePatience)
        }
    }
}

/// Which end of a connection this device is.
package enum SessionRole: Sendable, Equatable {
    /// This device called, and speaks first; the certificate is that of the device that it meant.
    case client

    /// This device was called; `isLive` tells whether the certificate is that of a live device, else it is one that
    /// must introduce itself by statements.
    case server(isLive: Bool)
}
