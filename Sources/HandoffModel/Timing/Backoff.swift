/// The delay before the next attempt. It doubles from a first delay up to a maximum.
package struct Backoff: Sendable, Equatable {
    /// The delay after the first failure, before variation.
    package let first: Duration

    /// The maximum delay, before variation.
    package let maxDelay: Duration

    /// The maximum random variation of a delay in either direction, in percent.
    private let variation: Int

    /// The delay before the next attempt, before variation.
    private var delay: Duration

    /// Creates a backoff that starts with `first` and never exceeds `maxDelay`.
    ///
    /// - Parameter variation: in percent. Spreads the attempts of devices that failed together.
    package init(first: Duration, maxDelay: Duration, variation: Int = 0) {
        precondition(first > .zero && maxDelay >= first && 0...100 ~= variation, "delays out of order")
        self.first = first
        self.maxDelay = maxDelay
        self.variation = variation
        delay = first
    }

    /// True if no attempt has failed since the start or the last success.
    package var isFresh: Bool { delay == first }

    /// Returns the delay before the next attempt, and doubles the one after it.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { delay = min(delay * 2, maxDelay) }
        return varied(delay, using: &generator)
    }

    /// Returns the delay before the next attempt, and doubles the one after it.
    package mutating func next() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }

    /// Returns the delay after the given number of failed attempts, for callers that count them.
    package func delay(after tries: Int) -> Duration {
        var delay = first
        for _ in 1..<max(min(tries, 64), 1) where delay < maxDelay { delay = min(delay * 2, maxDelay) }
        var generator = SystemRandomNumberGenerator()
        return varied(delay, using: &generator)
    }

    /// Records a success: the delay after the next failure is ``first`` again.
    package mutating func reset() {
        delay = first
    }

    /// Records how long the result of an attempt lasted. If it lasted at least the maximum delay,
    /// the attempt counts as a success. Results that repeatedly end sooner increase the delay each
    /// time.
    package mutating func ended(after lasted: Duration) {
        if lasted >= maxDelay { reset() }
    }

    private func varied(_ delay: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        guard variation > 0 else { return delay }
        return delay * Int.random(in: (100 - variation)...(100 + variation), using: &generator) / 100
    }
}
