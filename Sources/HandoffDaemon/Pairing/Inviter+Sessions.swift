import HandoffControl
import HandoffModel
import HandoffPairing
import HandoffProtocol
import HandoffState
import HandoffTransport
import LoopIO

/// The connections of joiners to a window.
extension Inviter {
    // MARK: - Accepting connections

    /// Handles a connection that may start TLS, if the window has room for it.
    func arrived(_ arrival: PairingListener.Arrival) {
        let connection = arrival.connection
        guard case .open(let secrets) = state else { return connection.abort() }
        // Checked before it takes a place, so that a wrong token evicts no other session.
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
        connect(connection, id, method: arrival.token == nil ? .digits : .link, secrets)
        connection.answer(arrival.clientHello)
        rearm()
    }

    private func connect(
        _ connection: PeerConnection, _ id: PairingWindow.SessionID, method: PairingAuthMethod, _ secrets: Secrets
    ) {
        arriving[id] = connection
        connection.onOpen = { [weak self, weak connection] _ in
            guard let self, let connection else { return }
            // Fails only if memory is exhausted.
            guard let exporter = connection.channelBinding else { return connection.close("no TLS channel binding") }
            log.debug("Connection of a joiner is open", ["group": connection.group])
            arriving[id] = nil
            let (salt, password) = secrets.password(of: method)
            let joiner = JoinerConnection(
                machine: InviterSession(
                    password: password, salt: salt, exporter: exporter, identity: accountStore.device,
                    name: accountStore.snapshot.name(of: accountStore.deviceID)), connection: connection, method: method
            )
            joiners[id] = joiner
            if let refusal = window.refusal(starting: id, now: loop.now) {
                perform(joiner.machine.refuse(refusal), joiner, id)
            } else {
                perform(joiner.machine.start(), joiner, id)
            }
        }
        connection.onBytes = { [weak self] bytes in
            guard let self, let joiner = joiners[id] else { return }
            perform(joiner.machine.received(bytes), joiner, id)
            rearm()
        }
        connection.onClosed = { [weak self] end in
            guard let self else { return }
            log.debug("A connection to the pairing window has ended", ["reason": "\(end)"])
            connectionClosed(id)
        }
    }

    // MARK: - Running sessions

    /// Performs the actions of a session.
    func perform(_ actions: [InviterAction], _ joiner: JoinerConnection, _ id: PairingWindow.SessionID) {
        for action in actions {
            switch action {
            case .send(let bytes): joiner.connection.send(bytes)
            case .guess: judge(joiner, id)
            case .wrongGuess: count(joiner, id)
            case .knowsCode: window.rightGuess(id, now: loop.now)
            case .joiner(let peer): ask(about: joiner, id, peer)
            case .stored: stored(joiner)
            case .ended(let end): ended(joiner, id, end)
            }
        }
    }

    private func judge(_ joiner: JoinerConnection, _ id: PairingWindow.SessionID) {
        if let refusal = window.judge(id, now: loop.now) {
            perform(joiner.machine.refuse(refusal), joiner, id)
        } else {
            perform(joiner.machine.checkGuess(), joiner, id)
        }
    }

    private func count(_ joiner: JoinerConnection, _ id: PairingWindow.SessionID) {
        let refusal = window.wrongGuess(id, now: loop.now, attempts: &attempts.value)
        log.notice(
            "A device tried a wrong pairing code",
            ["from": joiner.connection.remoteAddress.host, "guesses left": "\(window.guessesLeft)"])
        perform(joiner.machine.refuse(refusal), joiner, id)
        guard joiner.method == .digits else { return }
        service?.inviter(self, tells: refusal == .codeEnded ? .codeEnded : .wrongCode(guessesLeft: window.guessesLeft))
    }

    private func stored(_ joiner: JoinerConnection) {
        guard let peer = joiner.peer else { return }
        accountStore.finished(peer.device)
        joiners = joiners.filter { $0.value !== joiner }
        finishSending(joiner.connection)
        finish(.success(PairingDevice(peer)))
    }

    // MARK: - Ending sessions

    private func ended(_ joiner: JoinerConnection, _ id: PairingWindow.SessionID, _ end: PairingEnd) {
        guard joiners.removeValue(forKey: id) != nil else { return }
        log.debug("A pairing session has ended", ["end": "\(end)"])
        switch end {
        case .finished, .refused: finishSending(joiner.connection)
        case .refusedByPeer, .wrongConfirmation, .violation, .failed: joiner.connection.abort()
        }
        // Ignored from an unauthenticated device: any host on the network could close the window
        // with it.
        if end == .refusedByPeer(.alreadyMember), joiner.peer != nil {
            _ = window.ended(id, now: loop.now)
            return self.end(.alreadyMember)
        }
        updateWindow(afterEndOf: joiner, id)
    }

    /// Handles a connection that closed without a final frame.
    private func connectionClosed(_ id: PairingWindow.SessionID) {
        arriving[id] = nil
        guard let joiner = joiners.removeValue(forKey: id) else {
            _ = window.ended(id, now: loop.now)
            return
        }
        updateWindow(afterEndOf: joiner, id)
    }

    /// Updates the window after the end of a session.
    private func updateWindow(afterEndOf joiner: JoinerConnection, _ id: PairingWindow.SessionID) {
        switch window.ended(id, now: loop.now) {
        case .none: break
        case .gone:
            guard joiner.isAsked, let peer = joiner.peer else { break }
            log.notice("The device disconnected before the answer", ["device": peer.device.short])
            service?.inviter(self, tells: .gone(PairingDevice(peer)))
        case .over:
            finish(.failure(joiner.isJoining ? .unfinished(joiner.peer?.name ?? "the device") : .windowExpired))
        }
        rearm()
    }

    /// Closes an evicted session without sending a refusal.
    private func drop(_ id: PairingWindow.SessionID?) {
        guard let id else { return }
        arriving.removeValue(forKey: id)?.abort()
        joiners.removeValue(forKey: id)?.connection.abort()
    }
}

extension Inviter.Secrets {
    /// The password that a session must prove. Without digits, every digits session is refused, so
    /// any password serves.
    fileprivate func password(of method: PairingAuthMethod) -> (PairingSalt, PairingPassword) {
        guard method == .digits, let digits else { return (linkSalt, linkPassword) }
        return (digits.salt, digits.password)
    }
}

extension PairingDevice {
    /// The device with the id and name that the peer proved.
    init(_ peer: PairingPeer) {
        self.init(id: peer.device, name: peer.name)
    }
}
