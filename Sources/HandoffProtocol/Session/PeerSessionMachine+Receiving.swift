package import Timing

extension PeerSessionMachine {
    /// The connection delivered bytes; `budget` is that of the device over all its connections.
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

    /// The driver has merged and stored, or refused, the statements that it was given.
    ///
    /// - Parameters:
    ///   - outcome: whether they were in order, and the device at the other end is live now.
    ///   - hello: what this device says of itself now, as the merge may have changed its roster; nil when it says nothing else.
    package mutating func merged(
        _ outcome: MergeOutcome, hello: Hello?, budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) -> [SessionAction] {
        let resumption: Resumption
        switch state {
        case .merging(let next): resumption = next
        case .closed: return []  // It ended while the driver merged.
        case .connecting, .awaitingHello, .introducing, .expectingHello, .established:
            // The driver's mistake alone: it answers each `merge` once, and nothing leaves `merging` but that and the end.
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

    /// Takes frames until one has to wait for the driver, or none is whole.
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
                actions += try take(frame, budget: &budget, at: now)
            } catch {
                return actions + end(error)
            }
        }
        return actions
    }

    private mutating func take(
        _ frame: Frame, budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) throws(SessionEnd) -> [SessionAction] {
        guard let kind = frame.kind else { return [] }  // Of a later version; only a live device may send it.
        switch state {
        case .introducing:
            guard kind == .statements else { throw .unexpected(kind) }
            return merge(frame.body, then: .introduction, budget: &budget, at: now)
        case .expectingHello:
            if kind == .statements { return merge(frame.body, then: .hello, budget: &budget, at: now) }
            guard kind == .hello else { throw .unexpected(kind) }
            return try greet(frame.body)
        case .awaitingHello:
            guard kind == .hello else { throw .unexpected(kind) }
            return try greet(frame.body)
        case .established:
            return try takeEstablished(kind, frame.body, budget: &budget, at: now)
        case .connecting, .merging, .closed:
            // Not by the other side: `read` takes no frame from the decoder in these states.
            preconditionFailure("a frame is read in state \(state)")
        }
    }

    /// Above the limit they are merged later, and the other side waits: a list that is dropped would be missed until the next
    /// change.
    private mutating func merge(
        _ statements: [UInt8], then resumption: Resumption, budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) -> [SessionAction] {
        enter(.merging(resumption))
        return [.merge(statements, after: budget.delayStatements(at: now))]
    }

    /// The other side's first hello: from here on both are accepted.
    private mutating func greet(_ body: [UInt8]) throws(SessionEnd) -> [SessionAction] {
        let theirs = try decoded { () throws(MessageError) in try Hello(decoding: body, from: device) }
        peerHello = theirs
        enter(.established)
        var actions: [SessionAction] = []
        if case .server = role { actions.append(.send(Frame(.hello, hello.encoded(grease)))) }
        if let grease { actions.append(.send(grease.frame)) }
        actions.append(.establish(theirs))
        // A number near the end of the range would leave no room for the starts to come: nobody counts so far.
        if let seen = theirs.seenBoot, seen > hello.boot, seen < Position.maxBoot / 2 {
            actions.append(.raiseBoot(above: seen))
        }
        return actions + takeWaiting()
    }

    /// A further hello takes the place of the one before.
    private mutating func renew(_ body: [UInt8]) throws(SessionEnd) -> [SessionAction] {
        let theirs = try decoded { () throws(MessageError) in try Hello(decoding: body, from: device) }
        peerHello = theirs
        return [.renew(theirs)]
    }

    private mutating func takeEstablished(
        _ kind: FrameKind, _ body: [UInt8], budget: inout MemberRateLimiter, at now: MonotonicInstant
    ) throws(SessionEnd) -> [SessionAction] {
        switch kind {
        case .statements: return merge(body, then: .session, budget: &budget, at: now)
        case .epochKey: return try isAdmitted(budget.admitEpochKey(at: now)) ? [.takeEpochKey(body)] : []
        case .hello: return try isAdmitted(budget.admitRequest(at: now)) ? renew(body) : []
        case .request:
            // Before the JSON is read, which is what costs time.
            let seemsOpening = Self.seemsToOpenStream(body)
            let verdict = seemsOpening ? budget.admitOpening(at: now) : budget.admitRequest(at: now)
            guard try isAdmitted(verdict) else { return [] }
            let request = try decoded { () throws(MessageError) in try PeerRequest(decoding: body) }
            if seemsOpening, request.method != PeerMethod.openStream {
                guard try isAdmitted(budget.admitRequest(at: now)) else { return [] }
            }
            return try takeRequest(request)
        case .response:
            // A late answer finds nobody waiting, and more of them than requests could be sent are a flood.
            if pending.isEmpty { guard try isAdmitted(budget.admitRequest(at: now)) else { return [] } }
            return try takeResponse(decoded { () throws(MessageError) in try PeerResponse(decoding: body) })
        case .notice:
            guard try isAdmitted(budget.admitRequest(at: now)) else { return [] }
            return [.note(try decoded { () throws(MessageError) in try PeerNotice(decoding: body) })]
        }
    }

    /// Whether a request is to be counted as one for a stream, by a look that costs nothing: it is short, and has the word.
    private static func seemsToOpenStream(_ body: [UInt8]) -> Bool {
        guard body.count <= maxOpening else { return false }
        var rest = body[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[quote...]
            if rest.starts(with: openingWord) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private static let openingWord = Array("\"\(PeerMethod.openStream)\"".utf8)

    /// A request for a stream has a hundred bytes, and as many again with a resource; an honest one of this length may be
    /// written with blanks.
    private static let maxOpening = 512

    private mutating func takeRequest(_ request: PeerRequest) throws(SessionEnd) -> [SessionAction] {
        guard request.id > lastInboundID else { throw .wrongID(request.id) }
        lastInboundID = request.id
        guard openRequests.count < Self.maxOpenRequests else { throw .flooding }
        openRequests.insert(request.id)
        return [.handle(request)]
    }

    private mutating func takeResponse(_ response: PeerResponse) throws(SessionEnd) -> [SessionAction] {
        guard response.id <= lastRequestID else { throw .wrongID(response.id) }
        // An answer that comes after its deadline finds nobody waiting.
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
