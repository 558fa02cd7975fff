package import LoopIO

/// How fast something moves, by what it did in the last seconds. A plain value.
package struct TransferMeter {
    /// What is older says nothing of the present.
    private static let window = Duration.seconds(5)

    private var samples: [(at: LoopInstant, position: Int64)] = []

    /// Nothing is known yet.
    package init() {}

    /// Notes where it stands. A position below the last one begins anew.
    package mutating func add(_ position: Int64, at now: LoopInstant) {
        if let last = samples.last, last.position > position { samples = [] }
        samples.append((now, position))
        // One sample stays from before the window, so that there is always a span.
        while samples.count > 2, samples[1].at.duration(to: now) >= Self.window { samples.removeFirst() }
    }

    /// Bytes per second; nil until that can be said.
    package var rate: Int64? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let (seconds, attoseconds) = first.at.duration(to: last.at).components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        guard milliseconds >= 200 else { return nil }
        let (thousandfold, overflow) = (last.position - first.position).multipliedReportingOverflow(by: 1000)
        return overflow ? nil : thousandfold / milliseconds
    }
}
