package import HandoffCrypto

/// The inviter's side of one pairing session, inside TLS: bytes in, actions out.
///
/// Diagram: `docs/state-machines/pairing.md`.
package struct InviterSession: Sendable {
    private enum State {
        /// Before `start`.
        case idle
        /// The joiner derives its password and sends its share.
        case expectingShare
        /// The joiner has our share and must send its proof.
        case expectingConfirmation(SPAKE2Keys)
        /// The driver checks with the window whether the proof may be verified.
        case judging(SPAKE2Keys, confirmation: [UInt8])
        /// The proof was wrong; the driver must refuse.
        case wrong
        /// The joiner must send its identity.
        case expectingIdentity(PairingSeal)
        /// The user is being asked.
        case asking(PairingSeal, PairingPeer)
        /// The joiner stores the account.
        case transferring(PairingSeal)
        /// The session has ended.
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

    /// Creates a session over an established TLS connection.
    ///
    /// - Parameters:
    ///   - password: that of the digits, or that of the link if the connection started with its
    ///     token.
    ///   - salt: the salt of the password.
    ///   - exporter: ``PairingProtocol/exporterCount`` exported bytes of the TLS connection.
    ///   - identity: the key of this device.
    ///   - name: the name of this device, truncated to 64 bytes.
    ///   - scalar: the private scalar of SPAKE2, set for published examples; a fresh one by
    ///     default.
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

    /// True if the session has ended.
    package var isEnded: Bool {
        wait == .nothing
    }

    /// The event that the session waits for.
    var wait: PairingWait {
        switch state {
        case .idle, .expectingShare, .expectingConfirmation, .judging, .wrong, .expectingIdentity: .proof
        case .asking: .answer
        case .transferring: .transfer
        case .ended: .nothing
        }
    }

    /// Starts the session by sending the salt. Call it once.
    package mutating func start() -> [InviterAction] {
        // Only a driver error can cause this: the driver starts each session where it creates it.
        guard case .idle = state else { preconditionFailure("a session can start only once") }
        enter(.expectingShare)
        return [.send(PairingFrame(.salt, salt.bytes).encoded)]
    }

    /// Handles received bytes, split in any way.
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

    /// Verifies the proof that ``InviterAction/guess`` announced. Does nothing if the session has
    /// ended.
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
            // Only a driver error can cause this: the driver calls it only in response to `guess`,
            // and only this method and the end leave `judging`.
            preconditionFailure("no guess has arrived")
        }
    }

    /// Sends the account after the user agreed and the joiner was durably admitted. Does nothing if
    /// the session has ended.
    ///
    /// - Parameter statements: a ``StatementList`` that includes the joiner.
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
            // Only a driver error can cause this: the driver sends the account to the peer of
            // `joiner`, and the decoder rejects frames in `asking`.
            preconditionFailure("no joiner is waiting")
        }
    }

    /// Ends the session with a reason that is sent to the joiner. Does nothing if it has ended.
    package mutating func refuse(_ reason: PairingRefusal) -> [InviterAction] {
        guard !isEnded else { return [] }
        return [.send(PairingFrame(.refusal, reason.body).encoded)] + end(.refused(reason))
    }

    /// Handles a frame in the current state. The decoder passes no other kinds.
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
            // The peer cannot cause this: `enter` sets the accepted kinds, and here only refusals
            // are accepted.
            preconditionFailure("the decoder accepts only refusals")
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

/// An action that the driver of an ``InviterSession`` must perform, in this order.
package enum InviterAction: Sendable, Equatable {
    /// Write these bytes inside TLS.
    case send([UInt8])
    /// A proof of the code has arrived: call ``PairingWindow/judge(_:now:)``, then `checkGuess` or
    /// `refuse`.
    case guess
    /// The proof is wrong: count it, then `refuse` with the reason that the window returns.
    case wrongGuess
    /// The proof is right: the joiner knows the code, and no other session may prove it from now
    /// on.
    case knowsCode
    /// The joiner's proved identity: ask the user, then `handOver` or `refuse`.
    case joiner(PairingPeer)
    /// The joiner has stored the account.
    case stored
    /// The session has ended; close the connection.
    case ended(PairingEnd)
}
