package import HandoffControl
import HandoffModel
import LoopIO
package import Timing

/// Keeps another device from filling the log of continuations. A plain value.
///
/// What others do here is written at once as long as a device has entries left; it has `burst` of them, and gets one more
/// each `interval`. All devices together have `burstOfAll`, since one member can let in hundreds. What comes beyond that waits, and what is alike is put together into one entry that says how often.
/// Nothing is left out, and what waits is bounded: types and apps are those of our own activities.
package struct HistoryRateLimiter {
    /// How many entries a device has at once.
    package static let burst: UInt64 = 64
    /// How long it takes until it has one more.
    package static let interval = Duration.seconds(120)
    /// How many entries all devices have at once: a fraction of what the files hold.
    package static let burstOfAll: UInt64 = 512
    /// How long it takes until all of them have one more.
    package static let intervalOfAll = Duration.seconds(30)

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
        var rate = RateLimit(every: HistoryRateLimiter.interval, burst: HistoryRateLimiter.burst)
        /// What waits, the oldest kind first.
        var kinds: [Kind] = []
        var waiting: [Kind: ControlLogEntry] = [:]
    }

    private var shares: [DeviceID: Share] = [:]
    private var all = RateLimit(every: intervalOfAll, burst: burstOfAll)

    /// No device has used anything.
    package init() {}

    /// Takes an entry that another device has caused.
    ///
    /// - Returns: the entry, if it is to be written now; nil when it waits.
    package mutating func take(_ entry: ControlLogEntry, at now: MonotonicInstant) -> ControlLogEntry? {
        var share = shares[entry.device] ?? Share()
        defer { shares[entry.device] = share }
        if share.kinds.isEmpty, spend(&share, at: now) { return entry }
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
    package mutating func due(at now: MonotonicInstant) -> [ControlLogEntry] {
        var entries: [ControlLogEntry] = []
        for (device, former) in shares {
            var share = former
            while let kind = share.kinds.first, spend(&share, at: now) {
                share.kinds.removeFirst()
                if let entry = share.waiting.removeValue(forKey: kind) { entries.append(entry) }
            }
            // A device that has all of its entries again is like one that was never heard of.
            shares[device] = share.kinds.isEmpty && share.rate.isIdle(at: now) ? nil : share
        }
        return entries
    }

    /// When something is to be written next; nil when nothing waits.
    package var next: MonotonicInstant? {
        shares.values.filter { !$0.kinds.isEmpty }.map { max($0.rate.next, all.next) }.min()
    }

    /// Spends an entry of a device, if it has one and all together have.
    private mutating func spend(_ share: inout Share, at now: MonotonicInstant) -> Bool {
        guard share.rate.next <= now, all.next <= now else { return false }
        share.rate.count(at: now)
        all.count(at: now)
        return true
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
