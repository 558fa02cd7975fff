package import HandoffDiscovery
package import LoopIO
package import Timing

/// The inviters that a joiner knows of: whom it calls next, and what is to be said when nobody is left. A plain value;
/// time is a parameter.
///
/// Each may be tried again as long as nothing was learned there: a call that was cut or put off before our proof of the
/// code tells nobody anything, so those who only do that are called in turn with all others, and keep nobody out. With our
/// proof a false inviter can check one guess of its own, whatever it answers; so no more proofs are given than an inviter
/// allows wrong guesses. Whoever has refused the code is not asked again.
package struct JoinTargets {
    /// How a call ended without the account.
    package enum CallEnd {
        /// There was no connection to it, or it said nothing.
        case silent
        /// It began to talk, and was cut.
        case cut
        /// It has no time for so long.
        case busy(Duration)
        /// There is no use in asking it again.
        case over(PairingFailure)
    }

    private struct Target {
        let instance: String
        var addresses: [SocketAddress]
        var failures = 0
        /// Calls in a row that came to nothing at all.
        var silences = 0
        var due: MonotonicInstant
        /// Whether it has ever said anything.
        var hasTalked = false
        var isBusy = false
        var end: PairingFailure?
    }

    /// Calls in a row without any answer after which nobody is there.
    package static let maxSilences = 8
    /// Proofs of the code that are given to those who give none.
    package static let maxGuesses = 5

    private let limits: PairingLimits
    /// In the order in which they were found.
    private var targets: [Target] = []
    /// Proofs that were given so far without an answer.
    private var guesses = 0

    /// Nobody is known.
    package init(limits: PairingLimits) {
        self.limits = limits
    }

    /// Whether anybody was found at all.
    package var isEmpty: Bool { targets.isEmpty }

    /// When somebody may be called; nil when nobody is left.
    package var nextTime: MonotonicInstant? { callable.map(\.due).min() }

    /// Where they were tried, for people.
    package var places: [String] { targets.compactMap { $0.addresses.first?.description } }

    /// Somebody invites, as discovery says; or is somewhere else now.
    package mutating func found(_ service: DiscoveredService, now: MonotonicInstant) {
        guard let text = service.text, !service.addresses.isEmpty else { return }
        let versions = text.filter { $0.starts(with: Array("v=".utf8)) }
        add(
            service.instance, at: service.addresses, now: now,
            end: versions == PairingAnnouncer.text ? nil : .versionsDiffer)
    }

    /// Somebody invites at these addresses.
    package mutating func add(
        _ instance: String, at addresses: [SocketAddress], now: MonotonicInstant, end: PairingFailure? = nil
    ) {
        if let index = targets.firstIndex(where: { $0.instance == instance }) {
            targets[index].addresses = addresses
        } else if targets.count < limits.instances {
            targets.append(Target(instance: instance, addresses: addresses, due: now, end: end))
        }
    }

    /// Whom to call now.
    package func next(now: MonotonicInstant) -> (instance: String, addresses: [SocketAddress])? {
        // Those first who were not tried yet.
        let ready = callable.filter { $0.due <= now }
        guard let target = ready.min(by: { $0.failures < $1.failures }) else { return nil }
        return (target.instance, target.addresses)
    }

    /// A call has ended.
    /// - Parameter wasGuess: whoever answered has our proof of the code, and gave none.
    package mutating func ended(_ instance: String, _ end: CallEnd, wasGuess: Bool = false, now: MonotonicInstant) {
        if wasGuess { guesses += 1 }
        guard let index = targets.firstIndex(where: { $0.instance == instance }) else { return }
        let failures = targets[index].failures
        let backoff = min(limits.retry.first * (1 << min(failures, 8)), limits.retry.most)
        targets[index].failures += 1
        targets[index].isBusy = false
        if case .silent = end {} else { targets[index].hasTalked = true }
        var wait = backoff
        switch end {
        case .silent:
            targets[index].silences += 1
            if targets[index].silences >= Self.maxSilences {
                targets[index].end = .unreachable([targets[index].addresses.first?.description ?? instance])
            }
        case .cut: targets[index].silences = 0
        case .busy(let time):
            targets[index].silences = 0
            targets[index].isBusy = true
            wait = max(wait, time)
        case .over(let failure): targets[index].end = failure
        }
        targets[index].due = now.advanced(by: wait)
    }

    /// Those who may be called, now or later: nobody once enough proofs were given.
    private var callable: [Target] {
        guesses < Self.maxGuesses ? targets.filter { $0.end == nil } : []
    }

    /// What to say when nobody has let this device in: what tells most of it.
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
        return targets.contains(where: \.hasTalked) ? .brokenOff(few) : .unreachable(few)
    }
}
