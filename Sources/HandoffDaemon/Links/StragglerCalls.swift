import HandoffCrypto
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// Calls members that show themselves under labels of other epochs, so that both sides agree on the one that holds. Lives on
/// the daemon's loop.
final class StragglerCalls {
    /// What the calls need of the rest of the daemon.
    struct Surroundings {
        /// Sends all that there is to know of the account to a member.
        let offerAll: (PeerLink) -> Void
        /// Looks again at the services whose label is of another epoch.
        let reconsider: () -> Void
    }

    /// What was done about a label.
    private struct Stray {
        /// Calls that were made, and times that it was told over a connection that was there.
        var calls = 0
        /// When it may be called again; nil while a call to it is made, or waits.
        var due: LoopInstant?
        /// Who answered last.
        var device: DeviceID?
    }

    /// Labels that are remembered; more than that are not members that were away.
    private static let maximumStrays = 256
    /// Stragglers that are called at a time.
    private static let maximumCalls = 8

    private let loop: EventLoop
    private let log: Logger
    private let pool: LinkPool
    private let surroundings: Surroundings
    private var strays: [Label: Stray] = [:]
    private var waiting: [PeerNetwork.Straggler] = []
    private var called = 0
    /// Runs until the first of the stragglers may be called again.
    private var timer: LoopTimer?
    private var timerIsDue: LoopInstant?

    init(loop: EventLoop, log: Logger, pool: LinkPool, surroundings: Surroundings) {
        self.loop = loop
        self.log = log
        self.pool = pool
        self.surroundings = surroundings
    }

    /// A member shows itself under a label of another epoch: of a former one, and it is told of the one that holds; or of
    /// one that is not known here, and both find out which one is to hold.
    func found(_ straggler: PeerNetwork.Straggler) {
        guard straggler.marked != nil || pool.ring.isCurrent else { return }
        let label = straggler.label
        if let stray = strays[label] {
            guard let due = stray.due else { return }
            guard due <= loop.now else { return reconsider(at: due) }
        } else if strays.count >= Self.maximumStrays {
            strays.removeAll()
        }
        strays[label, default: Stray()].due = nil
        if waiting.count >= Self.maximumStrays { strays[waiting.removeFirst().label] = nil }
        waiting.append(straggler)
        advance()
    }

    /// Calls those who wait, a few at a time: a removed device still makes labels of former epochs, at any address.
    private func advance() {
        while called < Self.maximumCalls, !waiting.isEmpty {
            let straggler = waiting.removeFirst()
            let label = straggler.label
            if let device = straggler.marked?.device ?? strays[label]?.device, let open = pool.established(to: device) {
                // What either side learns goes over it by itself, but may not have been stored there.
                if let stray = strays[label], stray.calls > 0 { surroundings.offerAll(open) }
                tried(label, device)
                continue
            }
            guard let gate = gate(of: straggler) else {
                strays[label] = nil
                continue
            }
            called += 1
            pool.call(
                label: label, gate: gate, scope: .rosterOnly, addresses: straggler.addresses, isFixed: false,
                only: straggler.marked?.device
            ) { [self] link in
                called -= 1
                tried(label, link?.device)
                advance()
            }
        }
    }

    /// A straggler is looked at again some time after a call, which may have failed, or not have helped.
    private func tried(_ label: Label, _ device: DeviceID?) {
        let calls = (strays[label]?.calls ?? 0) + 1
        let due = loop.now.advanced(by: RosterSync.pause(after: calls))
        strays[label] = Stray(calls: calls, due: due, device: device)
        reconsider(at: due)
    }

    /// What opens the gate of a straggler that waits; nil when it need not be called any more.
    private func gate(of straggler: PeerNetwork.Straggler) -> (isHeld: Bool, key: SecretBytes)? {
        guard let marked = straggler.marked else {
            return pool.ring.isCurrent ? pool.ring.gate(for: straggler.label) : nil
        }
        // It may have been removed since.
        return pool.ring.peerKey(marked.device) == nil ? nil : (false, marked.gate)
    }

    private func reconsider(at due: LoopInstant) {
        if let timerIsDue, timerIsDue <= due { return }
        timerIsDue = due
        do {
            timer = try loop.timer(after: loop.now.duration(to: due), accuracy: .milliseconds(100)) { [unowned self] in
                timerIsDue = nil
                surroundings.reconsider()
            }
        } catch {
            timerIsDue = nil
            log.error("Cannot set the timer of stragglers", ["error": "\(error)"])
        }
    }
}
