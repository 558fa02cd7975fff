package import HandoffJSON
package import HandoffModel

extension PeerSessionMachine {
    /// Sends a request. A client need not wait for the hello. `.complete` with this id follows
    /// exactly once.
    ///
    /// - Parameter timeout: The time for the response; nil to wait for the lifetime of the
    ///   connection.
    package mutating func request(
        _ method: String, _ parameters: JSONObject, timeout: Duration?, at now: MonotonicInstant
    ) -> (id: Int64, actions: [SessionAction]) {
        lastRequestID += 1
        let id = lastRequestID
        let frame = Frame(.request, PeerRequest(id: id, method: method, parameters: parameters).encoded(grease))
        switch state {
        case .connecting, .introducing, .expectingHello, .merging(.introduction), .merging(.hello):
            waiting.append(frame)
            pending[id] = Pending(deadline: timeout.map { now + $0 })
            return (id, [])
        case .awaitingHello, .established, .merging(.session):
            pending[id] = Pending(deadline: timeout.map { now + $0 })
            return (id, [.send(frame)])
        case .closed:
            return (id, [.complete(id: id, .lost)])
        }
    }

    /// Responds to a request of the peer. Nothing is sent if the session has ended.
    package mutating func respond(to id: Int64, with outcome: PeerResponse.Outcome) -> [SessionAction] {
        guard openRequests.remove(id) != nil else { return [] }
        return [.send(Frame(.response, PeerResponse(id: id, outcome: outcome).encoded(grease)))]
    }

    /// Sends a notice to the peer, if it has been accepted.
    package func notify(_ method: String, _ parameters: JSONObject) -> [SessionAction] {
        guard isEstablished else { return [] }
        return [.send(Frame(.notice, PeerNotice(method: method, parameters: parameters).encoded(grease)))]
    }

    /// Sends statements, if both sides have accepted each other.
    package func sendStatements(_ statements: [UInt8]) -> [SessionAction] {
        isEstablished ? [.send(Frame(.statements, statements))] : []
    }

    /// Sends the current account key. The driver has checked that the peer is live in the stored
    /// roster.
    package func sendEpochKey(_ body: [UInt8]) -> [SessionAction] {
        isEstablished ? [.send(Frame(.epochKey, body))] : []
    }

    /// Sends a new hello, because this device's information has changed.
    package func sendHello() -> [SessionAction] {
        isEstablished ? [.send(Frame(.hello, hello.encoded(grease)))] : []
    }
}
