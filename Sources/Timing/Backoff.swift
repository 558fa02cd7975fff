/// How long to wait before the next try: doubling from a first delay to a longest one.
package struct Backoff: Sendable, Equatable {
    /// Delay of the first try, before variation.
    package let first: Duration

    /// Longest delay, before variation.
    package let longest: Duration

    /// Delays are varied at random by up to this part of themselves, both ways, in percent.
    private let variation: Int

    /// Delay of the next try, before variation.
    private var delay: Duration

    /// Starts with `first`, and never waits longer than `longest`.
    ///
    /// - Parameter variation: in percent; so that devices that failed together do not try together.
    package init(first: Duration, longest: Duration, variation: Int = 0) {
        precondition(first > .zero && longest >= first && 0...100 ~= variation, "delays out of order")
        self.first = first
        self.longest = longest
        self.variation = variation
        delay = first
    }

    /// Whether nothing has failed since the start, or since the last success.
    package var isFresh: Bool { delay == first }

    /// The delay before the next try; the one after will be twice as long.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { delay = min(delay * 2, longest) }
        return varied(delay, using: &generator)
    }

    /// The delay before the next try; the one after will be twice as long.
    package mutating func next() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }

    /// The delay after so many tries in vain, for who counts them.
    package func delay(after tries: Int) -> Duration {
        var delay = first
        for _ in 1..<max(min(tries, 64), 1) where delay < longest { delay = min(delay * 2, longest) }
        var generator = SystemRandomNumberGenerator()
        return varied(delay, using: &generator)
    }

    /// A try succeeded: the next failure waits ``first`` again.
    package mutating func reset() {
        delay = first
    }

    /// What a try led to has ended after this time. One that lasted as long as the longest delay was a success; what ends sooner,
    /// again and again, waits longer each time.
    package mutating func ended(after lasted: Duration) {
        if lasted >= longest { reset() }
    }

    private func varied(_ delay: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        guard variation > 0 else { return delay }
        return delay * Int.random(in: (100 - variation)...(100 + variation), using: &generator) / 100
    }
}
