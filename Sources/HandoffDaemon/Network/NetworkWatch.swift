import HandoffDiscovery
import HandoffModel
import HandoffState
import LoopIO

/// Tracks the networks that this machine is in, if the policy requires it, and stores the known
/// ones. Lives on the daemon's loop.
final class NetworkWatch {
    private let loop: EventLoop
    private let worker: Worker
    private let log: Logger
    private let folder: StateFolder
    /// Weak because a pending write can outlive the core.
    private weak var core: DaemonCore?
    private var monitor: NetworkMonitor?
    /// Whether a network changed while the tables were read.
    private var isOutdated = false
    private var isReading = false
    /// The state in force.
    private(set) var trust: NetworkTrust

    init(log: Logger, trust: NetworkTrust, core: DaemonCore) {
        self.core = core
        loop = core.loop
        worker = core.worker
        self.log = log
        folder = core.stored.folder
        self.trust = trust
    }

    /// Starts tracking if the configuration requires it.
    func start() {
        core?.networksChanged()
        follow()
    }

    /// Stops tracking.
    func stop() {
        monitor = nil
    }

    /// Applies another policy.
    func take(_ policy: NetworkPolicy) {
        change { $0.policy = policy }
        follow()
    }

    /// Reads once which networks this machine is in.
    func read(_ completion: @escaping (Result<NetworkTrust, any Error>) -> Void) {
        worker.run({ try NetworkTable.current() }, on: loop) { [weak self] result in
            guard let self else { return }
            completion(
                result.map { present in
                    self.change { $0.present = present }
                    return self.trust
                })
        }
    }

    /// Replaces the known networks once the new ones are stored.
    func store(_ known: NetworksFile, completion: @escaping (Result<Void, any Error>) -> Void) {
        worker.run({ [folder] in try folder.store(networks: known) }, on: loop) { [weak self] result in
            if case .success = result { self?.change { $0.known = known } }
            completion(result)
        }
    }

    private func follow() {
        guard trust.policy == .known else {
            monitor = nil
            return
        }
        guard monitor == nil else { return }
        do throws(Errno) {
            monitor = try NetworkMonitor(loop: loop) { [weak self] in self?.look() }
        } catch {
            log.error("Cannot watch for network changes", ["error": "\(error)"])
        }
        look()
    }

    private func look() {
        guard !isReading else {
            isOutdated = true
            return
        }
        isReading = true
        isOutdated = false
        read { [weak self] result in
            guard let self else { return }
            isReading = false
            if case .failure(let error) = result {
                log.error("Cannot read the networks", ["error": "\(error)"])
            }
            if isOutdated { look() }
        }
    }

    private func change(_ body: (inout NetworkTrust) -> Void) {
        let former = trust
        body(&trust)
        guard trust.limit != former.limit || trust.restriction != former.restriction else { return }
        log.info(
            "The networks have changed",
            ["found": trust.limit.map { $0.isEmpty ? "nowhere" : "in part" } ?? "everywhere"])
        core?.networksChanged()
    }
}
