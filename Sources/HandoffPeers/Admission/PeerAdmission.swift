import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import HandoffState
import HandoffTransport
import LoopIO

/// Accepts the connections of other devices that pass the gate with a token and then prove their
/// key. Lives on the daemon's loop.
final class PeerAdmission: GateListenerDelegate {
    /// The limit of hashes spent on callers: per second a tenth of a processor's time, and in one
    /// burst as many as take a millisecond.
    private static let maxHashes = (perSecond: UInt64(100_000), atOnce: UInt64(1000))
    /// The maximum number of connections without proof of their key.
    private static let maxUnproved = 64

    private unowned let peers: Peers
    private var gate: GateListener?
    private var hashes = RateLimit(perSecond: maxHashes.perSecond, burst: maxHashes.atOnce)
    private let storage: StaticCallStorage
    /// Limits the searches for a member that follows an earlier draft of the protocol. Each costs a
    /// hash for every member and label.
    private var searches = RateLimit(every: .seconds(10), burst: 1)
    /// Connections behind the gate whose client has not proved its key yet, by ascending number.
    private var unproved: [UInt64: PeerConnection] = [:]
    private var nextUnproved: UInt64 = 0

    /// - Parameter descriptor: a listening TCP socket. Connections are accepted from now on.
    init(_ descriptor: consuming Descriptor, context: TLSContext, peers: Peers) throws {
        self.peers = peers
        storage = StaticCallStorage(peers)
        gate = try GateListener(descriptor, context: context, on: peers.loop, delegate: self)
    }

    /// Accepts no more connections, and closes those that have not proved their key.
    func stop() {
        gate?.close()
        gate = nil
        for connection in unproved.values { connection.close("the daemon is stopping") }
        unproved.removeAll()
    }

    /// Judges a caller. A token of a member, of an open ticket, or of a holder of the account key
    /// opens the gate once.
    func judge(_ token: [UInt8], _ clientHello: [UInt8], from source: IPAddress) -> GateVerdict? {
        let (network, snapshot) = (peers.network, peers.accountStore.snapshot)
        guard let held = snapshot.held, !network.isSilent,
            hashes.admit(weight: Double(network.labels.hashesPerCaller(now: network.now)), at: network.now),
            var knock = Knock(token, clientHello, to: snapshot.own)
        else { return nil }
        let caller = network.labels.admit(&knock, among: network.callers, epoch: held.gate, now: network.now) {
            guard case .device(let device) = $0 else { return nil }
            return network.table.seenGeneration(of: device)
        }
        if network.labels.isWornOut { network.renewLabel() }
        storage.update()
        switch caller {
        case nil: return nil
        case .device(let device): return GateVerdict { DeviceID($0) == device && snapshot.admits($0) }
        case .ticket, .keyHolder:
            return GateVerdict(isIntroduction: true) { snapshot.admits($0) || snapshot.mayIntroduce($0) }
        }
    }

    /// Logs which device was refused because it follows an earlier draft of the protocol.
    func rejectedEarlierDraft(_ token: [UInt8], _ clientHello: [UInt8]) {
        guard searches.admit(at: peers.loop.now) else { return }
        let (network, snapshot) = (peers.network, peers.accountStore.snapshot)
        let labels =
            network.labels.receivers(now: network.now)
            + Gate.formerStaticLabels(unixSeconds: peers.wallClock.unixSeconds)
        let keys = network.missing.pairwise.keys
        // On the worker: the time grows with the number of members, and must not delay the closing
        // of connections.
        peers.worker.run(
            {
                let greeting = Gate.Greeting(clientHello, to: snapshot.own)
                return keys.filter { Gate.isFormer(token, key: $0.value.gate, labels: labels, greeting) }.map(\.key)
            }, on: peers.loop
        ) { [weak self] result in
            guard let self, case .success(let parties) = result else { return }
            for party in parties {
                let caller: KeyValuePairs<String, String> =
                    switch party {
                    case .device(let device): ["device": device.short, "name": snapshot.name(of: device)]
                    case .ticket(let ticket): ["ticket": ticket.short]
                    case .keyHolder: [:]
                    }
                peers.log.notice(
                    "A device with an earlier version of the protocol was refused; update Handoff there", caller)
            }
        }
    }

    /// Keeps a connection that has passed the gate until its client has proved its key.
    func passed(_ connection: PeerConnection) {
        let id = nextUnproved
        nextUnproved &+= 1
        // Otherwise, the holder of a key that opens the gate could open any number of connections.
        // An honest handshake takes milliseconds.
        if unproved.count >= Self.maxUnproved, let oldest = unproved.keys.min() {
            unproved.removeValue(forKey: oldest)?.close("too many connections have not proved a key")
        }
        unproved[id] = connection
        // Weak because the gate may be ending from inside a handler while the daemon stops.
        connection.onOpen = { [weak self, weak connection] key in
            guard let self, let connection else { return }
            unproved[id] = nil
            guard let key else { return connection.close("the client has not proved a key") }
            if connection.isForStream {
                acceptStream(connection, from: key)
            } else {
                peers.pool.accept(connection, from: key)
            }
        }
        connection.onClosed = { [weak self] reason in
            self?.unproved[id] = nil
            self?.peers.log.debug("A connection was not accepted", ["reason": "\(reason)"])
        }
    }

    /// Accepts a connection for a stream whose client has passed the gate and proved its key: only
    /// of a member that holds the key in force.
    private func acceptStream(_ connection: PeerConnection, from key: PublicKey) {
        let device = DeviceID(key)
        let snapshot = peers.accountStore.snapshot
        guard snapshot.isCurrent, snapshot.peerKey(device) != nil, !connection.isIntroduction else {
            return connection.close("only members may open streams")
        }
        peers.log.debug("Connection of a stream is open", ["device": device.short, "group": connection.group])
        peers.delegate?.acceptStream(connection, from: device)
    }
}
