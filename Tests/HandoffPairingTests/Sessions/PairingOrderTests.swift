import HandoffPairing
import Testing

/// Any frame but the next expected one ends a session.
@Suite struct PairingOrderTests {
    /// The kind that each side accepts before message `number` of a whole session arrives; nil for
    /// refusals only.
    private static let next: [(inviter: PairingFrameKind?, joiner: PairingFrameKind?)] = [
        (.shareA, .salt), (.shareA, nil), (.confirmA, .shareB), (.confirmA, .confirmB), (.identity, .confirmB),
        (.identity, .identity), (.stored, .identity), (.stored, .account), (.stored, nil),
    ]

    private static func body(_ kind: PairingFrameKind) -> [UInt8] {
        [UInt8](repeating: 1, count: kind.bodyCount.lowerBound)
    }

    @Test(arguments: 0..<9)
    func `by its kind, in every state of both sides`(_ number: Int) throws {
        var whole = try SessionPair()
        try whole.run()
        let (inviter, joiner) = whole.snapshots[number]
        for code in UInt8.min...UInt8.max where code != PairingFrameKind.refusal.rawValue {
            let frame = PairingFrameKind(rawValue: code).map { PairingFrame($0, Self.body($0)).encoded }
            let bytes = frame ?? [0, 0, 0, 2, code, 0]
            if code != Self.next[number].inviter?.rawValue, !inviter.isEnded {
                var inviter = inviter
                let actions = inviter.received(bytes)
                #expect(actions.count == 1 && inviter.isEnded, "kind \(code)")
                guard case .ended(.violation) = actions.first else {
                    Issue.record("kind \(code) did \(actions)")
                    continue
                }
            }
            if code != Self.next[number].joiner?.rawValue, !joiner.isEnded {
                var joiner = joiner
                let actions = joiner.received(bytes)
                #expect(actions.count == 1 && joiner.isEnded, "kind \(code)")
                guard case .ended(.violation) = actions.first else {
                    Issue.record("kind \(code) did \(actions)")
                    continue
                }
            }
        }
    }

    @Test(arguments: 0..<9)
    func `by its length, in every state of both sides`(_ number: Int) throws {
        var whole = try SessionPair()
        try whole.run()
        let (inviter, joiner) = whole.snapshots[number]
        for length in [0, 8 * 1024 * 1024 + 64 * 1024 + 2, UInt32.max] as [UInt32] {
            let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            var other = inviter
            if !other.isEnded { #expect(other.received(bytes) == [.ended(.violation(.length(length)))]) }
            var another = joiner
            guard !another.isEnded else { continue }
            guard case .ended(.violation(.length(length))) = another.received(bytes).first else {
                Issue.record("the joiner accepted \(length)")
                continue
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6])
    func `by arriving too early`(_ number: Int) throws {
        // Each message twice: the second is not what its receiver expects then.
        var pair = try SessionPair()
        try pair.run { $0.number == number ? $0.bytes + $0.bytes : $0.bytes }
        #expect(pair.received == nil && !pair.isStored)
        let ends = pair.messages[number].sender == .inviter ? pair.joinerEnds : pair.inviterEnds
        guard case .violation = ends.first else {
            Issue.record("\(ends)")
            return
        }
        #expect(ends.count == 1)
    }

    @Test(arguments: [5, 6, 7, 8])
    func `by not being sealed as the next one`(_ number: Int) throws {
        // A sealed frame of this session in place of a later one, with the expected kind.
        var pair = try SessionPair()
        var first: [UInt8] = []
        try pair.run { message in
            if message.number == 5 { first = Array(message.bytes.dropFirst(5)) }
            guard message.number == number, let kind = PairingFrameKind(rawValue: message.bytes[4]) else {
                return message.bytes
            }
            if number == 5 { return PairingFrame(kind, [UInt8](repeating: 0, count: first.count)).encoded }
            let body = kind == .stored ? Array(first.suffix(16)) : first
            return PairingFrame(kind, body).encoded
        }
        let ends = pair.messages[number].sender == .inviter ? pair.joinerEnds : pair.inviterEnds
        #expect(ends == [.violation(.seal)])
        #expect(!pair.isStored)
    }
}
