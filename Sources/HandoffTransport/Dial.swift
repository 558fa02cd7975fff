import HandoffCrypto
import LoopIO

/// One call to a device, at all its addresses, including those that become known during the call.
/// Use it on its loop's thread only. Releasing it cancels it. Diagram:
/// `docs/state-machines/peer-connection.md`.
package final class Dial {
    /// The maximum number of addresses that a call tries. Addresses originate from network records
    /// that anyone can forge.
    private static let maxAddresses = 16

    private let dialer: Dialer
    private var completion: ((Result<PeerConnection, DialError>) -> Void)?
    /// The addresses to try.
    private var candidates: [(address: SocketAddress, target: DialTarget)] = []
    /// All addresses that were tried or will be tried.
    private var known: Set<SocketAddress> = []
    private var attempts: [DialAttempt] = []
    private var failures: [DialError.Failure] = []
    private var headStart: LoopTimer?
    private var deadline: LoopTimer?

    init(
        _ target: DialTarget, dialer: Dialer, completion: @escaping (Result<PeerConnection, DialError>) -> Void
    ) {
        self.dialer = dialer
        self.completion = completion
        deadline = dialer.loop.timer(after: dialer.limits.dialTimeout) { [weak self] in self?.deadlinePassed() }
        headStart = dialer.loop.timer(after: dialer.limits.headStart) { [weak self] in self?.startNext() }
        _ = prepend(target)
        startNext()
    }

    deinit {
        cancel()
    }

    /// Cancels the call. The completion is not called.
    package func cancel() {
        completion = nil
        for attempt in attempts { attempt.cancel() }
        attempts = []
        headStart?.cancel()
        deadline?.cancel()
    }

    /// Adds addresses of the device. New ones are tried immediately, in parallel with attempts that
    /// have no reply. Does nothing after the call has ended.
    package func add(_ target: DialTarget) {
        guard completion != nil, prepend(target) else { return }
        startNext()
    }

    /// Adds the new addresses of a target to the start of the list, as far as there is room.
    /// - Returns: true if there are any.
    private func prepend(_ target: DialTarget) -> Bool {
        let new = target.candidates.filter { known.count < Self.maxAddresses && known.insert($0).inserted }
        candidates.insert(contentsOf: new.map { ($0, target) }, at: 0)
        return !new.isEmpty
    }

    private func startNext() {
        guard completion != nil, !candidates.isEmpty else { return endIfNothingIsLeft() }
        let (address, target) = candidates.removeFirst()
        if !candidates.isEmpty { headStart?.rearm(after: dialer.limits.headStart) }
        let attempt = DialAttempt(address, target, dialer)
        attempts.append(attempt)
        attempt.start { [weak self, weak attempt] result in
            guard let self, let attempt else { return }
            self.ended(attempt, result)
        }
    }

    private func ended(_ attempt: DialAttempt, _ result: Result<PeerConnection, DialError.Cause>) {
        attempts.removeAll { $0 === attempt }
        switch result {
        case .success(let connection): complete(.success(connection))
        case .failure(let cause):
            failures.append(DialError.Failure(address: attempt.address, cause: cause))
            // The next attempt need not wait any longer.
            startNext()
        }
    }

    private func endIfNothingIsLeft() {
        guard attempts.isEmpty, completion != nil else { return }
        // In a later turn, because this may be called from inside `dial`.
        dialer.loop.later { [weak self] in
            // Another address may have been added by now.
            guard let self, self.attempts.isEmpty else { return }
            self.complete(.failure(DialError(failures: self.failures)))
        }
    }

    private func deadlinePassed() {
        for attempt in attempts {
            failures.append(DialError.Failure(address: attempt.address, cause: .timedOut(attempt.stage)))
        }
        complete(.failure(DialError(failures: failures)))
    }

    private func complete(_ result: Result<PeerConnection, DialError>) {
        let completion = self.completion
        cancel()
        completion?(result)
    }
}
