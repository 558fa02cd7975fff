/// How long to wait before the next try: doubling from a first delay to a longest one, each varied at random so that
/// devices that failed together do not try together.
package struct Backoff: Sendable, Equatable {
    /// Delay of the first try, before variation.
    package let first: Duration

    /// Longest delay, before variation.
    package let longest: Duration

    /// Delay of the next try, before variation.
    private var delay: Duration

    /// Delays are varied by up to this part of themselves, both ways, in percent.
    private static let variation = 20

    /// Starts with `first`, and never waits longer than `longest`.
    package init(first: Duration, longest: Duration) {
        precondition(first > .zero && longest >= first, "delays out of order")
        self.first = first
        self.longest = longest
        self.delay = first
    }

    /// The delay before the next try; the one after will be twice as long.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let percent = Int.random(in: (100 - Self.variation)...(100 + Self.variation), using: &generator)
        defer { delay = min(delay * 2, longest) }
        return delay * percent / 100
    }

    /// A try succeeded: the next failure waits ``first`` again.
    package mutating func reset() {
        delay = first
    }
}
