import HandoffState
import LoopIO

/// Stores the latest calls by the static label, so that none of them opens the gate again after a
/// restart. Lives on the daemon's loop.
///
/// A call does not wait for the disk. If the daemon is killed within these milliseconds, the last
/// call opens once more.
final class StaticCallStorage {
    private unowned let peers: Peers
    private var stored: UInt64 = 0
    private var isStoring = false

    init(_ peers: Peers) {
        self.peers = peers
    }

    /// Stores later calls. Those that arrive during a write are stored together afterwards.
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
