package import HandoffDiscovery
package import HandoffModel
package import LoopIO

/// The inviters that a joiner knows. Decides which to call next and which failure to report if none
/// remains. A plain value; time is a parameter.
///
/// An inviter is retried as long as the call revealed nothing: a call that was dropped or postponed
/// before our proof of the code reveals nothing to the peer. Inviters that only do this are called
/// in turn with all others and block none of them. With our proof an impostor can check one guess
/// of its own, whatever it answers. Therefore the number of proofs is limited to the number of
/// wrong guesses that an inviter allows. An inviter that has rejected the code is not called again.
package struct JoinTargets {
    /// The end of a call without the account.
    package enum CallEnd {
        /// The connection failed, or the peer sent nothing.
        case silent
        /// The peer sent data, then the connection was lost.
        case cut
        /// The peer is busy for this time.
        case busy(Duration)
        /// Calling it again is pointless.
        case over(PairingFailure)
    }

    private struct Target {
        let instance: String
        var addresses: [SocketAddress]
        var failures = 0
        /// Number of consecutive calls without any response.
        var silentCalls = 0
        var due: MonotonicInstant
        /// True if it has ever sent anything.
        var hasResponded = false
        var isBusy = false
        var end: PairingFailure?
    }

    /// Number of consecutive calls without a response after which an inviter is unreachable.
    package static let maxSilentCalls = 8
    /// Maximum number of our proofs of the code that remain unanswered.
    package static let maxGuesses = 5

    private let limits: PairingLimits
    /// In order of discovery.
    private var targets: [Target] = []
    /// Number of our proofs so far that remained unanswered.
    private var guesses = 0

    /// Creates an empty list.
    package init(limits: PairingLimits) {
        self.limits = limits
    }

    /// True if no inviter has been found.
    package var isEmpty: Bool { targets.isEmpty }

    /// The time when an inviter may be called next, or nil if none remains.
    package var nextTime: MonotonicInstant? { callable.map(\.due).min() }

    /// The addresses that were tried, for messages.
    package var places: [String] { targets.compactMap { $0.addresses.first?.description } }

    /// Adds or updates an inviter found by discovery.
    package mutating func found(_ service: DiscoveredService, now: MonotonicInstant) {
        guard let text = service.text, !service.addresses.isEmpty else { return }
        let versions = text.filter { $0.starts(with: Array("v=".utf8)) }
        add(
            service.instance, at: service.addresses, now: now,
            end: versions == PairingAnnouncer.text ? nil : .versionsDiffer)
    }

    /// Adds an inviter or changes its addresses.
    package mutating func add(
        _ instance: String, at addresses: [SocketAddress], now: MonotonicInstant, end: PairingFailure? = nil
    ) {
        if let index = targets.firstIndex(where: { $0.instance == instance }) {
            targets[index].addresses = addresses
        } else if targets.count < limits.instances {
            targets.append(Target(instance: instance, addresses: addresses, due: now, end: end))
        }
    }

    /// The inviter to call now.
    package func next(now: MonotonicInstant) -> (instance: String, addresses: [SocketAddress])? {
        // Inviters with fewer failures are called first.
        let ready = callable.filter { $0.due <= now }
        guard let target = ready.min(by: { $0.failures < $1.failures }) else { return nil }
        return (target.instance, target.addresses)
    }

    /// Records the end of a call.
    /// - Parameter wasGuess: the peer has our proof of the code and sent none.
    package mutating func ended(_ instance: String, _ end: CallEnd, wasGuess: Bool = false, now: MonotonicInstant) {
        if wasGuess { guesses += 1 }
        guard let index = targets.firstIndex(where: { $0.instance == instance }) else { return }
        let failures = targets[index].failures
        let backoff = min(limits.retry.minDelay * (1 << min(failures, 8)), limits.retry.maxDelay)
        targets[index].failures += 1
        targets[index].isBusy = false
        if case .silent = end {} else { targets[index].hasResponded = true }
        var wait = backoff
        switch end {
        case .silent:
            targets[index].silentCalls += 1
            if targets[index].silentCalls >= Self.maxSilentCalls {
                targets[index].end = .unreachable([targets[index].addresses.first?.description ?? instance])
            }
        case .cut: targets[index].silentCalls = 0
        case .busy(let time):
            targets[index].silentCalls = 0
            targets[index].isBusy = true
            wait = max(wait, time)
        case .over(let failure): targets[index].end = failure
        }
        targets[index].due = now.advanced(by: wait)
    }

    /// The inviters that may be called, now or later. Empty once the maximum number of proofs was
    /// sent.
    private var callable: [Target] {
        guesses < Self.maxGuesses ? targets.filter { $0.end == nil } : []
    }

    /// The most informative failure to report if no inviter has admitted this device.
    package var failure: PairingFailure {
        let ends = targets.compactMap(\.end)
        let order: [PairingFailure.Reason] = [
            .wrongCode, .codeUsed, .declined, .removed, .accountFull, .cancelled, .windowClosed, .versionsDiffer,
            .failed,
        ]
        for reason in order {
            if let end = ends.first(where: { $0.reason == reason }) { return end }
        }
        if guesses >= Self.maxGuesses { return .untrusted }
        if targets.contains(where: \.isBusy) { return .busy }
        if targets.isEmpty { return .nobodyThere }
        let few = Array(places.prefix(3))
        return targets.contains(where: \.hasResponded) ? .connectionDropped(few) : .unreachable(few)
    }
}
