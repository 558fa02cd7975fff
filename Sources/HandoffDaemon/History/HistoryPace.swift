package import HandoffControl
import HandoffModel
package import LoopIO

/// Keeps another device from filling the log of continuations. A plain value.
///
/// What others do here is written at once as long as a device has entries left; it has `burst` of them, and gets one more
/// each `interval`. What comes beyond that waits, and what is alike is put together into one entry that says how often.
/// Nothing is left out, and what waits is bounded: types and apps are those of our own activities.
package struct HistoryPace {
    /// How many entries a device has at once.
    package static let burst = 64
    /// How long it takes until it has one more.
    package static let interval = Duration.seconds(120)

    /// What is put together.
    private struct Kind: Hashable {
        let event: ControlLogEntry.Event
        let type: String?
        let app: String?
        let outcome: String

        init(_ entry: ControlLogEntry) {
            event = entry.event
            type = entry.type
            app = entry.app
            outcome = entry.outcome
        }
    }

    private struct Share {
        /// When all of its entries would be there again (the generic cell rate algorithm).
        var full: LoopInstant
        /// What waits, the oldest kind first.
        var kinds: [Kind] = []
        var waiting: [Kind: ControlLogEntry] = [:]

        /// When an entry is there to be spent.
        var nextEntry: LoopInstant {
            full.advanced(by: HistoryPace.interval * -(HistoryPace.burst - 1))
        }

        /// Spends an entry, if there is one.
        mutating func spend(at now: LoopInstant) -> Bool {
            guard nextEntry <= now else { return false }
            full = max(full, now).advanced(by: HistoryPace.interval)
            return true
        }
    }

    private var shares: [DeviceID: Share] = [:]

    /// No device has used anything.
    package init() {}

    /// Takes an entry that another device has caused.
    ///
    /// - Returns: the entry, if it is to be written now; nil when it waits.
    package mutating func take(_ entry: ControlLogEntry, at now: LoopInstant) -> ControlLogEntry? {
        var share = shares[entry.device] ?? Share(full: now)
        defer { shares[entry.device] = share }
        if share.kinds.isEmpty, share.spend(at: now) { return entry }
        let kind = Kind(entry)
        guard let former = share.waiting[kind] else {
            share.kinds.append(kind)
            share.waiting[kind] = entry
            return nil
        }
        share.waiting[kind] = entry.joined(to: former)
        return nil
    }

    /// Takes out what may be written by now.
    package mutating func due(at now: LoopInstant) -> [ControlLogEntry] {
        var entries: [ControlLogEntry] = []
        for (device, former) in shares {
            var share = former
            while let kind = share.kinds.first, share.spend(at: now) {
                share.kinds.removeFirst()
                if let entry = share.waiting.removeValue(forKey: kind) { entries.append(entry) }
            }
            // A device that has all of its entries again is like one that was never heard of.
            shares[device] = share.kinds.isEmpty && share.full <= now ? nil : share
        }
        return entries
    }

    /// When something is to be written next; nil when nothing waits.
    package var next: LoopInstant? {
        shares.values.filter { !$0.kinds.isEmpty }.map(\.nextEntry).min()
    }

    /// Takes out all that waits, at the end.
    package mutating func drain() -> [ControlLogEntry] {
        defer { shares = [:] }
        return shares.values.flatMap { share in share.kinds.compactMap { share.waiting[$0] } }
    }
}

extension ControlLogEntry {
    /// This entry, and what an earlier one of the same kind says.
    fileprivate func joined(to earlier: ControlLogEntry) -> ControlLogEntry {
        func sum<Number: FixedWidthInteger>(_ left: Number, _ right: Number) -> Number {
            let (sum, overflow) = left.addingReportingOverflow(right)
            return overflow ? .max : sum
        }
        var entry = self
        entry.count = sum(count, earlier.count)
        entry.sent = sent.map { sum($0, earlier.sent ?? 0) }
        entry.received = received.map { sum($0, earlier.received ?? 0) }
        return entry
    }
}
