import FuzzSupport
import HandoffAccount
import HandoffCrypto
import HandoffPairing

/// One whole pairing with fixed keys, and both sides of it before each message arrives.
enum Rehearsal {
    static let exporter = [UInt8](repeating: 0x45, count: PairingProtocol.exporterCount)
    static let password = make {
        PairingSalt(bytes: Array(0x70...0x7F)).flatMap { salt in
            try? PairingPassword(link: link, salt: salt)
        }
    }
    static let moments = rehearse()

    private static let link = PairingLink(
        secret: SecretBytes(copying: [UInt8](repeating: 1, count: 16)), candidates: [])
    private static let inviterKey = make {
        try? SigningKey(seed: SecretBytes(copying: [UInt8](repeating: 2, count: 32)))
    }
    private static let joinerKey = make {
        try? SigningKey(seed: SecretBytes(copying: [UInt8](repeating: 3, count: 32)))
    }
    private static let scalarA = make { try? P256Scalar(reducing: SecretBytes(copying: [4])) }
    private static let scalarB = make { try? P256Scalar(reducing: SecretBytes(copying: [5])) }

    /// Ke of the rehearsal, computed independently of the sessions.
    private static let sharedKey: SecretBytes = make {
        let identities = SPAKE2Identities(
            a: Array("handoff/1 joiner".utf8), b: Array("handoff/1 inviter".utf8),
            additionalData: Array("handoff/1 pair".utf8) + exporter)
        let wide = try? HKDF.derive(
            SecretBytes(copying: [UInt8](repeating: 1, count: 16)), salt: Array(0x70...0x7F),
            info: Array("handoff/1 pair link".utf8), count: 48)
        guard let wide, let w = try? P256Scalar(reducing: wide),
            let a = try? SPAKE2(role: .a, password: w, identities: identities, scalar: scalarA),
            let b = try? SPAKE2(role: .b, password: w, identities: identities, scalar: scalarB)
        else { return nil }
        return try? a.keys(for: b.share)?.sharedKey
    }

    /// Returns `plaintext` as the frame that the side expects next, sealed as the other side would.
    static func sealed(_ plaintext: [UInt8], _ number: Int, isToInviter: Bool) -> [UInt8] {
        guard
            var seal = try? PairingSeal(
                sharedKey: sharedKey, exporter: exporter, role: isToInviter ? .joiner : .inviter)
        else { return plaintext }
        let isFirst = isToInviter ? number < 6 : number < 7
        let kind: PairingFrameKind = isFirst ? .identity : isToInviter ? .stored : .account
        if !isFirst { _ = try? seal.seal(.identity, []) }
        return (try? seal.seal(kind, plaintext))?.encoded ?? plaintext
    }

    private static func rehearse() -> [(inviter: InviterSession, joiner: JoinerSession)] {
        guard let salt = PairingSalt(bytes: Array(0x70...0x7F)) else { return [] }
        var inviter = InviterSession(
            password: password, salt: salt, exporter: exporter, identity: inviterKey, name: "first", scalar: scalarB)
        var joiner = JoinerSession(exporter: exporter, identity: joinerKey, name: "second", scalar: scalarA)
        var moments: [(inviter: InviterSession, joiner: JoinerSession)] = []
        var queue: [(isFromInviter: Bool, bytes: [UInt8])] = []
        func perform(_ actions: [InviterAction]) {
            for action in actions {
                switch action {
                case .send(let bytes): queue.append((true, bytes))
                case .guess: perform(inviter.checkGuess())
                case .joiner:
                    let key = SecretBytes(copying: [UInt8](repeating: 6, count: 32))
                    perform(inviter.handOver(epoch: 1, accountKey: key, statements: []))
                case .wrongGuess, .knowsCode, .stored, .ended: break
                }
            }
        }
        func perform(_ actions: [JoinerAction]) {
            for action in actions {
                switch action {
                case .send(let bytes): queue.append((false, bytes))
                case .needsPassword: perform(joiner.use(password))
                case .account: perform(joiner.stored())
                case .inviter, .ended: break
                }
            }
        }
        perform(inviter.start())
        while !queue.isEmpty {
            moments.append((inviter, joiner))
            let (isFromInviter, bytes) = queue.removeFirst()
            if isFromInviter { perform(joiner.received(bytes)) } else { perform(inviter.received(bytes)) }
        }
        require(moments.count == 9, "the rehearsal failed")
        return moments
    }

    private static func make<T>(_ body: () -> T?) -> T {
        guard let made = body() else { preconditionFailure("the rehearsal failed") }
        return made
    }
}
