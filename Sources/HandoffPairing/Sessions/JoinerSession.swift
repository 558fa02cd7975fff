package import HandoffCrypto

/// The joiner's side of one pairing session, inside TLS: bytes in, actions out.
///
/// Diagram: `docs/state-machines/pairing.md`.
package struct JoinerSession: Sendable {
    private enum State {
        /// The inviter must send the salt.
        case expectingSalt
        /// The driver derives the password.
        case deriving
        /// The inviter must send its share.
        case expectingShare(SPAKE2)
        /// The inviter verifies our proof and must send its own.
        case expectingConfirmation(SPAKE2Keys)
        /// The inviter must send its identity.
        case expectingIdentity(PairingSeal)
        /// The inviter's user is asked, and the account is awaited.
        case waiting(PairingSeal)
        /// The driver checks and stores the account.
        case storing(PairingSeal)
        /// The session has ended.
        case ended
    }

    private let exporter: [UInt8]
    private let identity: SigningKey
    private let name: String
    private let scalar: P256Scalar?
    private var decoder = PairingFrameDecoder(kinds: [.salt, .refusal])
    private var state = State.expectingSalt

    /// True if this side has sent its proof without receiving the inviter's. An impostor has then
    /// learned whether its one guess at the code is right, however it ends the session. Remains set
    /// after the session has ended.
    package private(set) var hasUnansweredProof = false

    /// Creates a session over an established TLS connection. It waits for the inviter to start.
    ///
    /// - Parameters:
    ///   - exporter: ``PairingProtocol/exporterCount`` exported bytes of the TLS connection.
    ///   - identity: the key of this device.
    ///   - name: the name of this device, truncated to 64 bytes.
    ///   - scalar: the private scalar of SPAKE2, set for published examples; a fresh one by
    ///     default.
    package init(exporter: [UInt8], identity: SigningKey, name: String, scalar: P256Scalar? = nil) {
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
        case .expectingSalt, .deriving, .expectingShare, .expectingConfirmation, .expectingIdentity: .proof
        case .waiting: .answer
        case .storing: .transfer
        case .ended: .nothing
        }
    }

    /// Handles received bytes, split in any way.
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

    /// Continues with the password derived with the received salt. Does nothing if the session has
    /// ended.
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
            // Only a driver error can cause this: the driver passes a password only for
            // `needsPassword`, and the decoder rejects frames in `deriving`.
            preconditionFailure("no password is needed")
        }
    }

    /// Confirms to the inviter that the account is durably stored. Does nothing if the session has
    /// ended.
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
            // Only a driver error can cause this: the driver stores the account from `account`, and
            // only this method and the end leave `storing`.
            preconditionFailure("no account has arrived")
        }
    }

    /// Cancels the session and notifies the inviter.
    package mutating func cancel() -> [JoinerAction] {
        refuse(.cancelled)
    }

    /// Ends the session with a reason that is sent to the inviter. Does nothing if it has ended.
    package mutating func refuse(_ reason: PairingRefusal) -> [JoinerAction] {
        guard !isEnded else { return [] }
        return [.send(PairingFrame(.refusal, reason.body).encoded)] + end(.refused(reason))
    }

    /// Handles a frame in the current state. The decoder passes no other kinds.
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
            // The peer cannot cause this: `enter` sets the accepted kinds, and here only refusals
            // are accepted.
            preconditionFailure("the decoder accepts only refusals")
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

/// An action that the driver of a ``JoinerSession`` must perform, in this order.
package enum JoinerAction: Sendable {
    /// Write these bytes inside TLS.
    case send([UInt8])
    /// Derive the password with this salt, on a worker if it is from digits, then call `use`.
    case needsPassword(PairingSalt)
    /// The inviter's proved identity. Its user is being asked now.
    case inviter(PairingPeer)
    /// The account: check it, store it, then call `stored`.
    case account(PairedAccount)
    /// The session has ended; close the connection.
    case ended(PairingEnd)
}
