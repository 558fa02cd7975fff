package import HandoffTLS
package import LoopIO

/// Makes connections to other devices in one context of TLS. Used on its loop's thread only.
package final class Dialer {
    let loop: EventLoop
    let context: TLSContext
    let limits: TransportLimits
    /// A session that has made its ClientHello, for the next call.
    private var spare: (session: TLSSession, clientHello: [UInt8])?
    private var slots: AddressSlots
    private var nextID: AddressSlots.ID = 0
    /// Who waits for a place at an address.
    private var waiting: [AddressSlots.ID: DialAttempt] = [:]

    /// - Parameter context: TLS in the role of the client.
    package init(context: TLSContext, limits: TransportLimits = TransportLimits(), on loop: EventLoop) {
        self.context = context
        self.limits = limits
        self.loop = loop
        slots = AddressSlots(perAddress: limits.attemptsPerAddress)
    }

    /// Calls a device at all its addresses, one after the other with a short head start each; the first connection on
    /// which both sides are proved wins, the others are dropped.
    ///
    /// - Parameter completion: called once, never from inside this call. A connection is open: set its handlers before
    ///   returning. The other side has not accepted *us* before its first frame.
    /// - Returns: the call; dropping or cancelling it ends it without a completion.
    package func dial(
        _ target: DialTarget, completion: @escaping (Result<PeerConnection, DialError>) -> Void
    ) -> Dial {
        Dial(target, dialer: self, completion: completion)
    }

    /// A session that accepts nobody yet, and its ClientHello, which is used once: the one made ahead, if there is one.
    func openSession() throws(TLSError) -> (session: TLSSession, clientHello: [UInt8]) {
        if let spare = spare.take() { return spare }
        let session = try TLSSession(context: context)
        return (session, session.start() ?? [])
    }

    /// Makes a session for the next call when this turn is over: it takes 0.06 ms, for which that call need not wait.
    func prepareSession() {
        loop.later { [weak self] in
            guard let self, spare == nil else { return }
            spare = try? openSession()
        }
    }

    /// Takes a place at its address for an attempt that is before its gate, and has it connect once there is one.
    func enter(_ attempt: DialAttempt) -> AddressSlots.ID {
        let id = nextID
        nextID &+= 1
        if slots.enter(id, at: attempt.address.address) { attempt.connect() } else { waiting[id] = attempt }
        return id
    }

    /// Gives up a place, or the wait for one.
    func leave(_ id: AddressSlots.ID, at address: IPAddress) {
        waiting[id] = nil
        guard let next = slots.leave(id, at: address), let attempt = waiting.removeValue(forKey: next) else { return }
        // Not from inside the attempt that gives up.
        loop.later { attempt.connect() }
    }
}
