package import HandoffCrypto
package import LoopIO

/// Connects to other devices with one TLS context. Use it on its loop's thread only.
package final class Dialer {
    let loop: EventLoop
    let context: TLSContext
    let limits: TransportLimits
    /// A prepared session with its ClientHello, for the next call.
    private var spare: (session: TLSSession, clientHello: [UInt8])?
    private var slots: AddressSlots
    private var nextID: AddressSlots.ID = 0
    /// The attempts that wait for a slot at an address.
    private var waiting: [AddressSlots.ID: DialAttempt] = [:]

    /// - Parameter context: a TLS context in the client role.
    package init(context: TLSContext, limits: TransportLimits = TransportLimits(), on loop: EventLoop) {
        self.context = context
        self.limits = limits
        self.loop = loop
        slots = AddressSlots(perAddress: limits.maxAttemptsPerAddress)
    }

    /// Calls a device at all its addresses, one after the other with a short head start each. The
    /// first connection on which both sides are authenticated is used, and the others are dropped.
    ///
    /// - Parameter completion: called once, never from inside this call. The connection is open:
    ///   set its handlers before returning. The peer has not accepted *this device* before its
    ///   first frame arrives.
    /// - Returns: the call. Releasing or cancelling it ends it without calling the completion.
    package func dial(
        _ target: DialTarget, completion: @escaping (Result<PeerConnection, DialError>) -> Void
    ) -> Dial {
        Dial(target, dialer: self, completion: completion)
    }

    /// Returns the prepared session or a new one, with its ClientHello, which must be used once
    /// only. It rejects every key until `accepts` is set.
    func openSession() throws(TLSError) -> (session: TLSSession, clientHello: [UInt8]) {
        if let spare = spare.take() { return spare }
        let session = try TLSSession(context: context)
        return (session, session.start() ?? [])
    }

    /// Prepares a session for the next call after the current turn. That call then need not wait
    /// the 0.06 ms that it takes.
    func prepareSession() {
        loop.later { [weak self] in
            guard let self, spare == nil else { return }
            spare = try? openSession()
        }
    }

    /// Acquires a slot at the attempt's address, and makes the attempt connect as soon as it has
    /// one.
    func acquireSlot(for attempt: DialAttempt) -> AddressSlots.ID {
        let id = nextID
        nextID &+= 1
        if slots.enter(id, at: attempt.address.address) { attempt.connect() } else { waiting[id] = attempt }
        return id
    }

    /// Releases a slot, or stops waiting for one.
    func releaseSlot(_ id: AddressSlots.ID, at address: IPAddress) {
        waiting[id] = nil
        guard let next = slots.leave(id, at: address), let attempt = waiting.removeValue(forKey: next) else { return }
        // Not from inside the attempt that releases its slot.
        loop.later { attempt.connect() }
    }
}
