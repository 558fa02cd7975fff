package import HandoffCrypto

/// The joiner's side of one pairing session, inside TLS: bytes in, actions out.
///
/// Diagram: `docs/state-machines/pairing.md`.
package struct JoinerSession: Sendable {
    private enum State {
        /// The state while the inviter owes the salt.
        case expectingSalt
        /// The state while the driver derives the password.
        case deriving
        /// The state while the inviter owes its share.
        case expectingShare(SPAKE2)
        /// The state while the inviter looks at our proof and owes its own.
        case expectingConfirmation(SPAKE2Keys)
        /// The state while the inviter owes its identity.
        case expectingIdentity(PairingSeal)
        /// The state while the inviter's user is asked, and the account is on its way.
        case waiting(PairingSeal)
        /// The state while the driver checks and stores the account.
        case storing(PairingSeal)
        /// The state once nothing more may happen.
        case ended
    }

    private let exporter: [UInt8]
    private let identity: SigningKey
    private let name: String
    private let scalar: P256Scalar?
    private var decoder = PairingFrameDecoder(kinds: [.salt, .refusal])
    private var state = State.expectingSalt

    /// Whether this side has given its proof, and not seen the inviter's: then a false inviter has learned whether the one
    /// code that it guessed is right, however it ends the session. Stays when the session has ended.
    package private(set) var hasUnansweredProof = false

    /// A session over a TLS connection that is up; it waits for the inviter to begin.
    ///
    /// - Parameters:
    ///   - exporter: ``PairingProtocol/exporterCount`` bytes of the TLS connection.
    ///   - identity: the key of this device.
    ///   - name: what this device is called; cut to 64 bytes.
    ///   - scalar: the private scalar of SPAKE2, for published examples; else a fresh one.
    package init(exporter: [UInt8], identity: SigningKey, name: String, scalar: P256Scalar? = nil) {
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
        case .expectingSalt, .deriving, .expectingShare, .expectingConfirmation, .expectingIdentity: .proof
        case .waiting: .answer
        case .storing: .transfer
        case .ended: .nothing
        }
    }

    /// Takes what the connection delivered, in any cuts.
    package mutating func received(_ bytes: some Collection<UInt8>) -> [JoinerAction] {
        guard !isEnded else { return [] }
        decoder.append(bytes)
        var actions: [JoinerAction] = []
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

    /// Goes on with the password of the salt that was given; nothing happens if the session has ended since.
    package mutating func use(_ password: PairingPassword) -> [JoinerAction] {
        switch state {
        case .deriving:
            do throws(CryptoError) {
                let exchange = try SPAKE2(
                    role: .a, password: password.scalar, identities: PairingProtocol.identities(exporter),
                    scalar: scalar)
                enter(.expectingShare(exchange))
                return [.send(PairingFrame(.shareA, exchange.share).encoded)]
            } catch {
                return end(.failed(error))
            }
        case .ended: return []
        case .expectingSalt, .expectingShare, .expectingConfirmation, .expectingIdentity, .waiting, .storing:
            // The driver's mistake alone: it brings a password only for `needsPassword`, and in `deriving` frames are refused by the
            // decoder.
            preconditionFailure("no password is needed")
        }
    }

    /// Tells the inviter that the account is stored durably; nothing happens if the session has ended since.
    package mutating func stored() -> [JoinerAction] {
        switch state {
        case .storing(var seal):
            do throws(CryptoError) {
                let frame = try seal.seal(.stored, [])
                return [.send(frame.encoded)] + end(.finished)
            } catch {
                return end(.failed(error))
            }
        case .ended: return []
        case .expectingSalt, .deriving, .expectingShare, .expectingConfirmation, .expectingIdentity, .waiting:
            // The driver's mistake alone: it stores what `account` has brought, and nothing leaves `storing` but this and the end.
            preconditionFailure("no account has arrived")
        }
    }

    /// Gives up, and says so.
    package mutating func cancel() -> [JoinerAction] {
        refuse(.cancelled)
    }

    /// Ends the session with a reason that the inviter is told; nothing happens if it has ended.
    package mutating func refuse(_ reason: PairingRefusal) -> [JoinerAction] {
        guard !isEnded else { return [] }
        return [.send(PairingFrame(.refusal, reason.body).encoded)] + end(.refused(reason))
    }

    /// What a frame does in the present state; the decoder lets no other kinds through.
    private mutating func receive(_ frame: PairingFrame) throws(CryptoError) -> [JoinerAction] {
        if frame.kind == .refusal {
            guard let reason = PairingRefusal(body: frame.body) else { return end(.violation(.layout)) }
            return end(.refusedByPeer(reason))
        }
        switch state {
        case .expectingSalt:
            guard let salt = PairingSalt(bytes: frame.body) else { return end(.violation(.layout)) }
            enter(.deriving)
            return [.needsPassword(salt)]
        case .expectingShare(let exchange):
            guard let keys = try exchange.keys(for: frame.body) else { return end(.violation(.share)) }
            enter(.expectingConfirmation(keys))
            hasUnansweredProof = true
            return [.send(PairingFrame(.confirmA, keys.confirmation).encoded)]
        case .expectingConfirmation(let keys):
            guard keys.isConfirmed(by: frame.body) else { return end(.wrongConfirmation) }
            hasUnansweredProof = false
            var seal = try PairingSeal(sharedKey: keys.sharedKey, exporter: exporter, role: .joiner)
            let own = try PairingIdentity.encode(key: identity, name: name, role: .joiner, exporter: exporter)
            let first = try seal.seal(.identity, own)
            enter(.expectingIdentity(seal))
            return [.send(first.encoded)]
        case .expectingIdentity(var seal):
            guard let plaintext = seal.open(frame) else { return end(.violation(.seal)) }
            guard let peer = PairingIdentity.decode(plaintext, role: .inviter, exporter: exporter) else {
                return end(.violation(.identity))
            }
            guard peer.publicKey != identity.publicKey else { return end(.violation(.reflection)) }
            enter(.waiting(seal))
            return [.inviter(peer)]
        case .waiting(var seal):
            guard let plaintext = seal.openSecret(frame) else { return end(.violation(.seal)) }
            guard let account = PairedAccount(plaintext) else { return end(.violation(.layout)) }
            enter(.storing(seal))
            return [.account(account)]
        case .deriving, .storing, .ended:
            // Not by the other side: `enter` tells the decoder which kind may come, and there it is none but a refusal.
            preconditionFailure("the decoder takes refusals only")
        }
    }

    private mutating func end(_ end: PairingEnd) -> [JoinerAction] {
        enter(.ended)
        return [.ended(end)]
    }

    private mutating func enter(_ next: State) {
        state = next
        let awaited: PairingFrameKind? =
            switch next {
            case .expectingSalt: .salt
            case .expectingShare: .shareB
            case .expectingConfirmation: .confirmB
            case .expectingIdentity: .identity
            case .waiting: .account
            case .deriving, .storing, .ended: nil
            }
        decoder.allow(awaited.map { [$0, .refusal] } ?? [.refusal])
    }
}

/// What the driver of a ``JoinerSession`` has to do, in this order.
package enum JoinerAction: Sendable {
    /// Write these bytes inside TLS.
    case send([UInt8])
    /// Derive the password with this salt, on a worker if it is of digits, then `use` it.
    case needsPassword(PairingSalt)
    /// Who the inviter is, proved; its user is being asked now.
    case inviter(PairingPeer)
    /// The account: check it, store it, then say `stored`.
    case account(PairedAccount)
    /// Nothing more comes; close the connection.
    case ended(PairingEnd)
}
