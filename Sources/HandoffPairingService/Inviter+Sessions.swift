import HandoffControl
import HandoffLog
import HandoffModel
import HandoffPairing
import HandoffProtocol
import HandoffState
import HandoffTransport
import LoopIO
import Timing

/// The connections to a window.
extension Inviter {
    // MARK: - Coming

    /// A connection that may begin TLS, if the window has a place for it.
    func arrived(_ arrival: PairingListener.Arrival) {
        let connection = arrival.connection
        guard case .open(let secrets) = state else { return connection.abort() }
        // Before it gets a place: a wrong token costs nobody his.
        if let token = arrival.token, !secrets.link.isValid(token, clientHello: arrival.clientHello) {
            return connection.abort()
        }
        let source = PairingSource(host: connection.remoteAddress.address.bytes)
        guard let (id, evicted) = window.accept(from: source, now: loop.now) else {
            return connection.abort()
        }
        drop(evicted)
        if let token = arrival.token {
            let (isTaken, evicted) = window.useToken(token, of: id)
            drop(evicted)
            guard isTaken else {
                _ = window.ended(id, now: loop.now)
                return connection.abort()
            }
        }
        connect(connection, id, door: arrival.token == nil ? .digits : .link, secrets)
        connection.answer(arrival.clientHello)
        rearm()
    }

    private func connect(
        _ connection: PeerConnection, _ id: PairingWindow.SessionID, door: PairingAuthMethod, _ secrets: Secrets
    ) {
        arriving[id] = connection
        connection.onOpen = { [weak self, weak connection] _ in
            guard let self, let connection else { return }
            // Fails only without memory.
            guard let exporter = connection.channelBinding else { return connection.close("TLS cannot be bound to") }
            arriving[id] = nil
            let (salt, password) = secrets.password(of: door)
            let guest = Guest(
                machine: InviterSession(
                    password: password, salt: salt, exporter: exporter, identity: accountStore.device,
                    name: accountStore.snapshot.name(of: accountStore.deviceID)), connection: connection, door: door)
            guests[id] = guest
            if let refusal = window.refusal(starting: id, now: loop.now) {
                perform(guest.machine.refuse(refusal), guest, id)
            } else {
                perform(guest.machine.start(), guest, id)
            }
        }
        connection.onBytes = { [weak self] bytes in
            guard let self, let guest = guests[id] else { return }
            perform(guest.machine.received(bytes), guest, id)
            rearm()
        }
        connection.onClosed = { [weak self] end in
            guard let self else { return }
            log.debug("A connection to the pairing window has ended", ["reason": "\(end)"])
            left(id)
        }
    }

    // MARK: - Working

    /// Does what a session asks for.
    func perform(_ actions: [InviterAction], _ guest: Guest, _ id: PairingWindow.SessionID) {
        for action in actions {
            switch action {
            case .send(let bytes): guest.connection.send(bytes)
            case .guess: judge(guest, id)
            case .wrongGuess: count(guest, id)
            case .knowsCode: window.rightGuess(id, now: loop.now)
            case .joiner(let peer): ask(about: guest, id, peer)
            case .stored: stored(guest)
            case .ended(let end): ended(guest, id, end)
            }
        }
    }

    private func judge(_ guest: Guest, _ id: PairingWindow.SessionID) {
        if let refusal = window.judge(id, now: loop.now) {
            perform(guest.machine.refuse(refusal), guest, id)
        } else {
            perform(guest.machine.checkGuess(), guest, id)
        }
    }

    private func count(_ guest: Guest, _ id: PairingWindow.SessionID) {
        let refusal = window.wrongGuess(id, now: loop.now, allowance: &allowance.value)
        log.notice(
            "A wrong pairing code was tried",
            ["from": guest.connection.remoteAddress.host, "guesses left": "\(window.guessesLeft)"])
        perform(guest.machine.refuse(refusal), guest, id)
        guard guest.door == .digits else { return }
        onEvent?(refusal == .codeEnded ? .codeEnded : .wrongCode(guessesLeft: window.guessesLeft))
    }

    private func stored(_ guest: Guest) {
        guard let peer = guest.peer else { return }
        accountStore.finished(peer.device)
        guests = guests.filter { $0.value !== guest }
        bidFarewell(guest.connection)
        finish(.success(PairingDevice(peer)))
    }

    // MARK: - Going

    private func ended(_ guest: Guest, _ id: PairingWindow.SessionID, _ end: PairingEnd) {
        guard guests.removeValue(forKey: id) != nil else { return }
        log.debug("A pairing session has ended", ["end": "\(end)"])
        switch end {
        case .finished, .refused: bidFarewell(guest.connection)
        case .refusedByPeer, .wrongConfirmation, .violation, .failed: guest.connection.abort()
        }
        // From a stranger it means nothing: anyone on the network could close the window with it.
        if end == .refusedByPeer(.alreadyMember), guest.peer != nil {
            _ = window.ended(id, now: loop.now)
            return self.end(.alreadyMember)
        }
        account(for: guest, id)
    }

    /// A connection has gone without a word.
    private func left(_ id: PairingWindow.SessionID) {
        arriving[id] = nil
        guard let guest = guests.removeValue(forKey: id) else {
            _ = window.ended(id, now: loop.now)
            return
        }
        account(for: guest, id)
    }

    /// Draws the conclusions for the window from the end of a session.
    private func account(for guest: Guest, _ id: PairingWindow.SessionID) {
        switch window.ended(id, now: loop.now) {
        case .none: break
        case .gone:
            guard guest.isAsked, let peer = guest.peer else { break }
            log.notice("The device went away before the answer", ["device": peer.device.short])
            onEvent?(.gone(PairingDevice(peer)))
        case .over:
            finish(.failure(guest.isJoining ? .unfinished(guest.peer?.name ?? "the device") : .windowRanOut))
        }
        rearm()
    }

    /// Closes a session that has lost its place, without a word.
    private func drop(_ id: PairingWindow.SessionID?) {
        guard let id else { return }
        arriving.removeValue(forKey: id)?.abort()
        guests.removeValue(forKey: id)?.connection.abort()
    }
}

extension Inviter.Secrets {
    /// What a session is to prove. Without digits none of theirs gets beyond its refusal, so any password does for it.
    fileprivate func password(of door: PairingAuthMethod) -> (PairingSalt, PairingPassword) {
        guard door == .digits, let digits else { return (linkSalt, linkPassword) }
        return (digits.salt, digits.password)
    }
}

extension PairingDevice {
    /// As it introduced itself.
    init(_ peer: PairingPeer) {
        self.init(id: peer.device, name: peer.name)
    }
}
