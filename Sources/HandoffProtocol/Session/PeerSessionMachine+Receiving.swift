package import HandoffModel

extension PeerSessionMachine {
    /// Handles bytes from the connection. `budget` applies to all connections of the device.
    package mutating func received(
        _ bytes: some Collection<UInt8>, budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) -> [SessionAction] {
        switch state {
        case .closed, .connecting:
            return []
        case .introducing(let since, _):
            state = .introducing(since: since, isReading: true)
        case .expectingHello(let since, _):
            state = .expectingHello(since: since, isReading: true)
        case .awaitingHello, .merging, .established:
            break
        }
        decoder.append(bytes)
        return read(budget: &budget, at: now)
    }

    /// Handles the driver's result of merging and storing statements.
    ///
    /// - Parameters:
    ///   - outcome: Whether the statements were valid and the peer is now live.
    ///   - hello: This device's new hello, since the merge may have changed its roster; nil if it
    ///     has not changed.
    package mutating func merged(
        _ outcome: MergeOutcome, hello: Hello?, budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) -> [SessionAction] {
        let resumption: Resumption
        switch state {
        case .merging(let next): resumption = next
        case .closed: return []  // The session ended during the merge.
        case .connecting, .awaitingHello, .introducing, .expectingHello, .established:
            // Only a driver error leads here: the driver answers each `merge` once, and only its
            // answer or the end of the session leaves `merging`.
            preconditionFailure("merged in state \(state)")
        }
        switch outcome {
        case .live: break
        case .notLive: return end(.notLive)
        case .refused: return end(.badStatements)
        }
        if let hello { self.hello = hello }
        switch resumption {
        case .introduction, .hello: enter(.expectingHello(since: now, isReading: false))
        case .session: enter(.established)
        }
        return read(budget: &budget, at: now)
    }

    /// Handles frames until one must wait for the driver or none is complete.
    private mutating func read(budget: inout MemberRateLimiter, at now: MonotonicInstant) -> [SessionAction] {
        var actions: [SessionAction] = []
        while wantsInput {
            let frame: Frame
            do {
                guard let next = try decoder.next() else { break }
                frame = next
            } catch {
                return actions + end(.framing(error))
            }
            do {
                actions += try handle(frame, budget: &budget, at: now)
            } catch {
                return actions + end(error)
            }
        }
        return actions
    }

    private mutating func handle(
        _ frame: Frame, budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) throws(SessionEnd) -> [SessionAction] {
        guard let kind = frame.kind else { return [] }  // From a later version; only a live device may send it.
        switch state {
        case .introducing:
            guard kind == .statements else { throw .unexpected(kind) }
            return merge(frame.body, then: .introduction, budget: &budget, at: now)
        case .expectingHello:
            if kind == .statements { return merge(frame.body, then: .hello, budget: &budget, at: now) }
            guard kind == .hello else { throw .unexpected(kind) }
            return try handleFirstHello(frame.body)
        case .awaitingHello:
            guard kind == .hello else { throw .unexpected(kind) }
            return try handleFirstHello(frame.body)
        case .established:
            return try handleEstablished(kind, frame.body, budget: &budget, at: now)
        case .connecting, .merging, .closed:
            // The peer cannot cause this: `read` takes no frame from the decoder in these states.
            preconditionFailure("a frame is read in state \(state)")
        }
    }

    /// Merges statements. Above the limit, the merge is delayed and the peer waits. A dropped list
    /// would be missing until the next change.
    private mutating func merge(
        _ statements: [UInt8], then resumption: Resumption, budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) -> [SessionAction] {
        enter(.merging(resumption))
        return [.merge(statements, after: budget.delayStatements(at: now))]
    }

    /// Handles the peer's first hello, which completes the mutual acceptance.
    private mutating func handleFirstHello(_ body: [UInt8]) throws(SessionEnd) -> [SessionAction] {
        let theirs = try decoded { () throws(MessageError) in try Hello(decoding: body, from: device) }
        peerHello = theirs
        enter(.established)
        var actions: [SessionAction] = []
        if case .server = role { actions.append(.send(Frame(.hello, hello.encoded(grease)))) }
        if let grease { actions.append(.send(grease.frame)) }
        actions.append(.establish(theirs))
        // A number near the end of the range would leave no room for later starts. No device
        // reaches it by counting.
        if let seen = theirs.seenGeneration, seen > hello.generation, seen < Position.maxGeneration / 2 {
            actions.append(.raiseGeneration(above: seen))
        }
        return actions + sendWaiting()
    }

    /// Handles a later hello, which replaces the previous one.
    private mutating func handleLaterHello(_ body: [UInt8]) throws(SessionEnd) -> [SessionAction] {
        let theirs = try decoded { () throws(MessageError) in try Hello(decoding: body, from: device) }
        peerHello = theirs
        return [.renew(theirs)]
    }

    private mutating func handleEstablished(
        _ kind: FrameKind, _ body: [UInt8], budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) throws(SessionEnd) -> [SessionAction] {
        switch kind {
        case .statements: return merge(body, then: .session, budget: &budget, at: now)
        case .epochKey: return try isAdmitted(budget.admitEpochKey(at: now)) ? [.receiveEpochKey(body)] : []
        case .hello: return try isAdmitted(budget.admitRequest(at: now)) ? handleLaterHello(body) : []
        case .request:
            // Check the limit before parsing the JSON, which is the expensive part.
            let seemsOpening = Self.seemsToOpenStream(body)
            let verdict = seemsOpening ? budget.admitOpening(at: now) : budget.admitRequest(at: now)
            guard try isAdmitted(verdict) else { return [] }
            let request = try decoded { () throws(MessageError) in try PeerRequest(decoding: body) }
            if seemsOpening, request.method != PeerMethod.openStream {
                guard try isAdmitted(budget.admitRequest(at: now)) else { return [] }
            }
            return try handleRequest(request)
        case .response:
            // A late response matches no request. More responses than requests are a flood.
            if pending.isEmpty { guard try isAdmitted(budget.admitRequest(at: now)) else { return [] } }
            return try handleResponse(decoded { () throws(MessageError) in try PeerResponse(decoding: body) })
        case .notice:
            guard try isAdmitted(budget.admitRequest(at: now)) else { return [] }
            return [.note(try decoded { () throws(MessageError) in try PeerNotice(decoding: body) })]
        }
    }

    /// Returns whether to count a request as a stream request, by a cheap check: it is short and
    /// contains the method name.
    private static func seemsToOpenStream(_ body: [UInt8]) -> Bool {
        guard body.count <= maxOpeningSize else { return false }
        var rest = body[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[quote...]
            if rest.starts(with: openStreamToken) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private static let openStreamToken = Array("\"\(PeerMethod.openStream)\"".utf8)

    /// The maximum size of a stream request, in bytes. It has a hundred bytes, and as many again
    /// with a resource. A valid one may contain whitespace up to this size.
    private static let maxOpeningSize = 512

    private mutating func handleRequest(_ request: PeerRequest) throws(SessionEnd) -> [SessionAction] {
        guard request.id > lastInboundID else { throw .wrongID(request.id) }
        lastInboundID = request.id
        guard openRequests.count < Self.maxOpenRequests else { throw .flooding }
        openRequests.insert(request.id)
        return [.handle(request)]
    }

    private mutating func handleResponse(_ response: PeerResponse) throws(SessionEnd) -> [SessionAction] {
        guard response.id <= lastRequestID else { throw .wrongID(response.id) }
        // A response after the deadline matches no request.
        guard pending.removeValue(forKey: response.id) != nil else { return [] }
        return [.complete(id: response.id, .answered(response.outcome))]
    }

    private func isAdmitted(_ verdict: MemberRateLimiter.Verdict) throws(SessionEnd) -> Bool {
        switch verdict {
        case .admit: return true
        case .drop: return false
        case .close: throw .flooding
        }
    }

    private func decoded<Message>(_ decode: () throws(MessageError) -> Message) throws(SessionEnd) -> Message {
        do {
            return try decode()
        } catch {
            throw .message(error)
        }
    }
}
