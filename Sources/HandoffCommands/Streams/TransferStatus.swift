import HandoffJSON
import LoopIO
package import Timing

/// How far transfers are: one line at the bottom of a terminal, or a call about once a second for who prints it otherwise.
package final class TransferStatus {
    /// How far one transfer is, in bytes of its content.
    package struct Progress: Equatable {
        /// Bytes that are there.
        package var position: Int64
        /// All of them; nil when that is not known.
        package var size: Int64?

        package init(position: Int64, size: Int64?) {
            self.position = position
            self.size = size
        }
    }

    /// How often a terminal is written to.
    private static let terminalInterval = Duration.milliseconds(250)
    /// How often a line is printed.
    private static let lineInterval = Duration.seconds(1)

    private let context: CommandContext
    private let verb: String
    private let line: StatusLine
    private let tick: (() -> Void)?
    private var transfers: [Int: Progress] = [:]
    private var last = 0
    /// What transfers that have ended moved, so that the sum never falls.
    private var ended: Int64 = 0
    private var meter = TransferMeter()
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - verb: what the line begins with: `sending`.
    ///   - tick: instead of a line on a terminal: called about once a second while something moves.
    init(_ context: CommandContext, verb: String, tick: (() -> Void)? = nil) {
        self.context = context
        self.verb = verb
        self.tick = tick
        line = StatusLine(context.console)
    }

    /// One more transfer.
    /// - Returns: its number, for the other calls.
    func begin(_ progress: Progress) -> Int {
        last += 1
        if transfers.isEmpty { meter = TransferMeter() }
        transfers[last] = progress
        arm()
        return last
    }

    /// A transfer has moved.
    func moved(_ number: Int, to position: Int64) {
        transfers[number]?.position = position
    }

    /// A transfer is over.
    func end(_ number: Int) {
        guard let progress = transfers.removeValue(forKey: number) else { return }
        ended += progress.position
        if transfers.isEmpty {
            timer = nil
            ended = 0
            clear()
        }
    }

    /// Takes the line away, before anything else is printed; it comes back by itself.
    func clear() { line.clear() }

    /// The line for these transfers.
    package static func text(_ verb: String, _ transfers: [Progress], rate: Int64?) -> String {
        let position = transfers.reduce(0) { $0 + $1.position }
        let sizes = transfers.compactMap(\.size)
        let size = sizes.count == transfers.count ? sizes.reduce(0, +) : nil
        var words = [transfers.count > 1 ? "\(verb) \(transfers.count) streams" : verb]
        if let size, size > 0 {
            words.append("\(Int64(Double(min(position, size)) / Double(size) * 100))%")
            words.append("\(ByteText.text(position)) of \(ByteText.text(size))")
        } else {
            words.append(ByteText.text(position))
        }
        if let rate, rate > 0 {
            words.append(ByteText.rate(rate))
            // More than four days is no forecast.
            if let size, (size - position) / rate < 360_000 {
                words.append("\(Countdown.text(.seconds((size - position) / rate))) left")
            }
        }
        return words.joined(separator: "  ")
    }

    private func arm() {
        guard timer == nil, tick != nil || line.isPossible else { return }
        timer = context.loop.timer(after: tick == nil ? Self.terminalInterval : Self.lineInterval) { [weak self] in
            self?.fire()
        }
    }

    private func fire() {
        timer = nil
        guard !transfers.isEmpty, context.status == nil else { return }
        meter.add(ended + transfers.values.reduce(0) { $0 + $1.position }, at: context.loop.now)
        if let tick {
            tick()
        } else {
            line.show(Self.text(verb, transfers.sorted { $0.key < $1.key }.map(\.value), rate: meter.rate))
        }
        arm()
    }
}

/// How fast something moves, by what it did in the last seconds. A plain value.
package struct TransferMeter {
    /// What is older says nothing of the present.
    private static let window = Duration.seconds(5)

    private var samples: [(at: MonotonicInstant, position: Int64)] = []

    /// Nothing is known yet.
    package init() {}

    /// Notes where it stands. A position below the last one begins anew.
    package mutating func add(_ position: Int64, at now: MonotonicInstant) {
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
