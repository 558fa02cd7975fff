package import HandoffCrypto

/// The inviter's side of one pairing session, inside TLS: bytes in, actions out.
///
/// Diagram: `docs/state-machines/pairing.md`.
package struct InviterSession: Sendable {
    private enum State {
        /// The state before `start`.
        case idle
        /// The state while the joiner derives its password and sends its share.
        case expectingShare
        /// The state while the joiner has our share and owes its proof.
        case expectingConfirmation(SPAKE2Keys)
        /// The state while the driver asks the window whether the proof may be looked at.
        case judging(SPAKE2Keys, confirmation: [UInt8])
        /// The state after a wrong proof, until the driver refuses.
        case wrong
        /// The state while the joiner owes its identity.
        case expectingIdentity(PairingSeal)
        /// The state while the user is asked.
        case asking(PairingSeal, PairingPeer)
        /// The state while the joiner stores the account.
        case transferring(PairingSeal)
        /// The state once nothing more may happen.
        case ended
    }

    private let password: PairingPassword
    private let salt: PairingSalt
    private let exporter: [UInt8]
    private let identity: SigningKey
    private let name: String
    private let scalar: P256Scalar?
    private var decoder = PairingFrameDecoder(kinds: [.refusal])
    private var state = State.idle

    /// A session over a TLS connection that is up.
    ///
    /// - Parameters:
    ///   - password: the one of the digits, or the one of the link if the connection came with its token.
    ///   - salt: the one that the password was made with.
    ///   - exporter: ``PairingProtocol/exporterCount`` bytes of the TLS connection.
    ///   - identity: the key of this device.
    ///   - name: what this device is called; cut to 64 bytes.
    ///   - scalar: the private scalar of SPAKE2, for published examples; else a fresh one.
    package init(
        password: PairingPassword, salt: PairingSalt, exporter: [UInt8], identity: SigningKey, name: String,
        scalar: P256Scalar? = nil
    ) {
        self.password = password
        self.salt = salt
        self.exporter = exporter
        self.identity = identity
        self.name = name
        self.scalar = scalar
    }

    /// Whether nothing more may happen.
    package var isEnded: Bool {
        wait == .nothing
    }

    /// What the session waits for.
    package var wait: PairingWait {
        switch state {
        case .idle, .expectingShare, .expectingConfirmation, .judging, .wrong, .expectingIdentity: .proof
        case .asking: .answer
        case .transferring: .transfer
        case .ended: .nothing
        }
    }

    /// Begins, with the salt; called once.
    package mutating func start() -> [InviterAction] {
        // The driver's mistake alone: it starts a session where it makes it.
        guard case .idle = state else { preconditionFailure("a session starts once") }
        enter(.expectingShare)
        return [.send(PairingFrame(.salt, salt.bytes).encoded)]
    }

    /// Takes what the connection delivered, in any cuts.
    package mutating func received(_ bytes: some Collection<UInt8>) -> [InviterAction] {
        guard !isEnded else { return [] }
        decoder.append(bytes)
        var actions: [InviterAction] = []
        do throws(PairingViolation) {
            while !isEnded, let frame = try decoder.next() {
                do throws(CryptoError) {
                    actions += try receive(frame)
                } catch {
                    actions += end(.failed(error))
                }
            }
        } catch {
            actions += end(.violation(error))
        }
        return actions
    }

    /// Looks at the proof that ``InviterAction/guess`` announced; nothing happens if the session has ended since.
    package mutating func checkGuess() -> [InviterAction] {
        switch state {
        case .judging(let keys, let confirmation):
            guard keys.isConfirmed(by: confirmation) else {
                enter(.wrong)
                return [.wrongGuess]
            }
            do throws(CryptoError) {
                let seal = try PairingSeal(sharedKey: keys.sharedKey, exporter: exporter, role: .inviter)
                enter(.expectingIdentity(seal))
                return [.send(PairingFrame(.confirmB, keys.confirmation).encoded), .knowsCode]
            } catch {
                return end(.failed(error))
            }
        case .ended: return []
        case .idle, .expectingShare, .expectingConfirmation, .wrong, .expectingIdentity, .asking, .transferring:
            // The driver's mistake alone: it calls this only as the answer to `guess`, and nothing leaves `judging` but this and the end.
            preconditionFailure("no guess has arrived")
        }
    }

    /// Hands the account over after the user agreed and the joiner was admitted durably; nothing happens if the session
    /// has ended since.
    ///
    /// - Parameter statements: a ``StatementList`` with the joiner in it.
    package mutating func handOver(
        epoch: UInt64, accountKey: SecretBytes, statements: [UInt8]
    ) -> [InviterAction] {
        switch state {
        case .asking(var seal, _):
            let account = PairedAccount(epoch: epoch, accountKey: accountKey, statements: statements)
            do throws(CryptoError) {
                let frame = try seal.seal(.account, account.plaintext)
                guard frame.kind.bodyCount.contains(frame.body.count) else { return refuse(.failed) }
                enter(.transferring(seal))
                return [.send(frame.encoded)]
            } catch {
                return end(.failed(error))
            }
        case .ended: return []
        case .idle, .expectingShare, .expectingConfirmation, .judging, .wrong, .expectingIdentity, .transferring:
            // The driver's mistake alone: it hands over to whom `joiner` has named, and in `asking` frames are refused by the decoder.
            preconditionFailure("no joiner is waiting")
        }
    }

    /// Ends the session with a reason that the joiner is told; nothing happens if it has ended.
    package mutating func refuse(_ reason: PairingRefusal) -> [InviterAction] {
        guard !isEnded else { return [] }
        return [.send(PairingFrame(.refusal, reason.body).encoded)] + end(.refused(reason))
    }

    /// What a frame does in the present state; the decoder lets no other kinds through.
    private mutating func receive(_ frame: PairingFrame) throws(CryptoError) -> [InviterAction] {
        if frame.kind == .refusal {
            guard let reason = PairingRefusal(body: frame.body) else { return end(.violation(.layout)) }
            return end(.refusedByPeer(reason))
        }
        switch state {
        case .expectingShare:
            let exchange = try SPAKE2(
                role: .b, password: password.scalar, identities: PairingProtocol.identities(exporter), scalar: scalar)
            guard let keys = try exchange.keys(for: frame.body) else { return end(.violation(.share)) }
            enter(.expectingConfirmation(keys))
            return [.send(PairingFrame(.shareB, exchange.share).encoded)]
        case .expectingConfirmation(let keys):
            enter(.judging(keys, confirmation: frame.body))
            return [.guess]
        case .expectingIdentity(var seal):
            guard let plaintext = seal.open(frame) else { return end(.violation(.seal)) }
            guard let peer = PairingIdentity.decode(plaintext, role: .joiner, exporter: exporter) else {
                return end(.violation(.identity))
            }
            guard peer.publicKey != identity.publicKey else { return end(.violation(.reflection)) }
            let own = try PairingIdentity.encode(key: identity, name: name, role: .inviter, exporter: exporter)
            let answer = try seal.seal(.identity, own)
            enter(.asking(seal, peer))
            return [.send(answer.encoded), .joiner(peer)]
        case .transferring(var seal):
            guard seal.open(frame) != nil else { return end(.violation(.seal)) }
            return [.stored] + end(.finished)
        case .idle, .judging, .wrong, .asking, .ended:
            // Not by the other side: `enter` tells the decoder which kind may come, and there it is none but a refusal.
            preconditionFailure("the decoder takes refusals only")
        }
    }

    private mutating func end(_ end: PairingEnd) -> [InviterAction] {
        enter(.ended)
        return [.ended(end)]
    }

    private mutating func enter(_ next: State) {
        state = next
        let awaited: PairingFrameKind? =
            switch next {
            case .expectingShare: .shareA
            case .expectingConfirmation: .confirmA
            case .expectingIdentity: .identity
            case .transferring: .stored
            case .idle, .judging, .wrong, .asking, .ended: nil
            }
        decoder.allow(awaited.map { [$0, .refusal] } ?? [.refusal])
    }
}

/// What the driver of an ``InviterSession`` has to do, in this order.
package enum InviterAction: Sendable, Equatable {
    /// Write these bytes inside TLS.
    case send([UInt8])
    /// A proof of the code has arrived: ask the ``PairingWindow``, then `checkGuess` or `refuse`.
    case guess
    /// The proof is wrong: count it, then `refuse` with what the window says.
    case wrongGuess
    /// The proof is right: the joiner knows the code, and no other may prove it from now on.
    case knowsCode
    /// Who the joiner is, proved: ask the user, then `handOver` or `refuse`.
    case joiner(PairingPeer)
    /// The joiner has stored the account.
    case stored
    /// Nothing more comes; close the connection.
    case ended(PairingEnd)
}
