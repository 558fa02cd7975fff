import HandoffLog
import HandoffState
import LoopIO

/// Stores which calls by the static label were the latest, so that none of them opens again after a restart. Lives on the
/// daemon's loop.
///
/// A call does not wait for the disk: who ends the daemon within these milliseconds lets the last call open once more.
final class StaticCallStorage {
    private unowned let peers: Peers
    private var stored: UInt64 = 0
    private var isStoring = false

    init(_ peers: Peers) {
        self.peers = peers
    }

    /// Stores the calls if there were later ones; those that arrive while it writes, together.
    func update() {
        let calls = peers.network.labels.staticCalls
        guard calls.version != stored, !isStoring else { return }
        stored = calls.version
        isStoring = true
        let file = CallersFile(latest: calls.stored)
        peers.worker.run({ [folder = peers.folder] in try folder.store(callers: file) }, on: peers.loop) {
            [weak self, log = peers.log] result in
            if case .failure(let error) = result {
                log.error("Cannot store the number of a call by a fixed address", ["error": "\(error)"])
            }
            guard let self else { return }
            isStoring = false
            update()
        }
    }
}
