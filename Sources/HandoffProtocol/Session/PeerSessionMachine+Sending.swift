package import HandoffJSON
package import Timing

extension PeerSessionMachine {
    /// Asks the other side; a client need not wait for the hello. `.complete` with this id follows exactly once.
    ///
    /// - Parameter timeout: time for the answer; nil waits as long as the connection lives.
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

    /// Answers a request of the other side; nothing is sent when the session ended meanwhile.
    package mutating func respond(to id: Int64, with outcome: PeerResponse.Outcome) -> [SessionAction] {
        guard openRequests.remove(id) != nil else { return [] }
        return [.send(Frame(.response, PeerResponse(id: id, outcome: outcome).encoded(grease)))]
    }

    /// Tells the other side something, if it has been accepted.
    package func notify(_ method: String, _ parameters: JSONObject) -> [SessionAction] {
        guard isEstablished else { return [] }
        return [.send(Frame(.notice, PeerNotice(method: method, parameters: parameters).encoded(grease)))]
    }

    /// Sends statements, if both sides have accepted each other.
    package func sendStatements(_ statements: [UInt8]) -> [SessionAction] {
        isEstablished ? [.send(Frame(.statements, statements))] : []
    }

    /// Sends the account key in force; the driver has checked that the device is live in the stored roster.
    package func sendEpochKey(_ body: [UInt8]) -> [SessionAction] {
        isEstablished ? [.send(Frame(.epochKey, body))] : []
    }

    /// Says hello again: what this device says of itself has changed.
    package func sendHello() -> [SessionAction] {
        isEstablished ? [.send(Frame(.hello, hello.encoded(grease)))] : []
    }
}
