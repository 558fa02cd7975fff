import HandoffJSON
import HandoffModel
import LoopIO

/// Shows the progress of transfers on the last line of a terminal, or calls back about once a
/// second.
final class TransferStatus {
    /// The progress of one transfer, in bytes of its content.
    struct Progress: Equatable {
        /// The number of bytes transferred.
        var position: Int64
        /// The total number of bytes; nil if unknown.
        var size: Int64?
    }

    /// The interval of updates on a terminal.
    private static let terminalInterval = Duration.milliseconds(250)
    /// The interval of printed lines.
    private static let lineInterval = Duration.seconds(1)

    private let context: CommandContext
    private let verb: String
    private let line: StatusLine
    private let tick: (() -> Void)?
    private var transfers: [Int: Progress] = [:]
    private var last = 0
    /// The bytes of ended transfers, so that the sum never decreases.
    private var ended: Int64 = 0
    private var meter = TransferMeter()
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - verb: the first word of the line: `sending`.
    ///   - tick: called about once a second during a transfer, instead of showing a line on a
    ///     terminal.
    init(_ context: CommandContext, verb: String, tick: (() -> Void)? = nil) {
        self.context = context
        self.verb = verb
        self.tick = tick
        line = StatusLine(context.console)
    }

    /// Adds a transfer.
    /// - Returns: its number, for the other methods.
    func begin(_ progress: Progress) -> Int {
        last += 1
        if transfers.isEmpty { meter = TransferMeter() }
        transfers[last] = progress
        arm()
        return last
    }

    /// Updates the position of a transfer.
    func moved(_ number: Int, to position: Int64) {
        transfers[number]?.position = position
    }

    /// Removes a transfer.
    func end(_ number: Int) {
        guard let progress = transfers.removeValue(forKey: number) else { return }
        ended += progress.position
        if transfers.isEmpty {
            timer = nil
            ended = 0
            clear()
        }
    }

    /// Clears the line before something else is printed. The next update shows it again.
    func clear() { line.clear() }

    /// Returns the line for these transfers.
    static func text(_ verb: String, _ transfers: [Progress], rate: Int64?) -> String {
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
            // An estimate of more than four days is meaningless.
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

/// Measures the rate of a transfer over the last seconds.
struct TransferMeter {
    /// The time after which samples no longer count.
    private static let window = Duration.seconds(5)

    private var samples: [(at: MonotonicInstant, position: Int64)] = []

    /// Creates a meter without samples.
    init() {}

    /// Adds a sample. A position below the last one restarts the measurement.
    mutating func add(_ position: Int64, at now: MonotonicInstant) {
        if let last = samples.last, last.position > position { samples = [] }
        samples.append((now, position))
        // Keep one sample from before the window, so that there is always an interval.
        while samples.count > 2, samples[1].at.duration(to: now) >= Self.window { samples.removeFirst() }
    }

    /// The number of bytes per second; nil until it can be measured.
    var rate: Int64? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let (seconds, attoseconds) = first.at.duration(to: last.at).components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        guard milliseconds >= 200 else { return nil }
        let (thousandfold, overflow) = (last.position - first.position).multipliedReportingOverflow(by: 1000)
        return overflow ? nil : thousandfold / milliseconds
    }
}
