package import HandoffControl
package import HandoffModel
import LoopIO

/// Prevents other devices from filling the continuation log. A plain value.
///
/// An entry caused by another device is written immediately while that device has entries left. It
/// has `burst` of them, and gets one more each `interval`. All devices together have `burstOfAll`,
/// because one member can admit hundreds. Further entries wait, and entries of the same kind are
/// merged into one with a count. Nothing is lost. The number of waiting entries is bounded, because
/// types and apps are those of local activities.
package struct HistoryRateLimiter {
    /// The number of entries that a device can cause without delay.
    package static let burst: UInt64 = 64
    /// The time after which a device may cause one more.
    package static let interval = Duration.seconds(120)
    /// The number of entries that all devices can cause without delay: a fraction of the capacity
    /// of the files.
    package static let burstOfAll: UInt64 = 512
    /// The time after which all devices together may cause one more.
    package static let intervalOfAll = Duration.seconds(30)

    /// The properties that entries must share to be merged.
    private struct Kind: Hashable {
        let event: ReplyWord<ControlLogEntry.Event>
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
        /// The kinds of the waiting entries, oldest first.
        var kinds: [Kind] = []
        var waiting: [Kind: ControlLogEntry] = [:]
    }

    private var shares: [DeviceID: Share] = [:]
    private var all = RateLimit(every: intervalOfAll, burst: burstOfAll)

    /// A limiter in which no device has caused an entry.
    package init() {}

    /// Accepts an entry caused by another device.
    ///
    /// - Returns: the entry if it is to be written now; nil if it waits.
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

    /// Removes and returns the waiting entries that may be written by now.
    package mutating func due(at now: MonotonicInstant) -> [ControlLogEntry] {
        var entries: [ControlLogEntry] = []
        for (device, former) in shares {
            var share = former
            while let kind = share.kinds.first, spend(&share, at: now) {
                share.kinds.removeFirst()
                if let entry = share.waiting.removeValue(forKey: kind) { entries.append(entry) }
            }
            // A device with its whole burst available needs no record.
            shares[device] = share.kinds.isEmpty && share.rate.isIdle(at: now) ? nil : share
        }
        return entries
    }

    /// The time of the next write; nil when nothing waits.
    package var next: MonotonicInstant? {
        shares.values.filter { !$0.kinds.isEmpty }.map { max($0.rate.next, all.next) }.min()
    }

    /// Counts an entry of a device if neither the limit of the device nor the common one is
    /// reached.
    private mutating func spend(_ share: inout Share, at now: MonotonicInstant) -> Bool {
        guard share.rate.next <= now, all.next <= now else { return false }
        share.rate.count(at: now)
        all.count(at: now)
        return true
    }

    /// Removes and returns all waiting entries, at shutdown.
    package mutating func drain() -> [ControlLogEntry] {
        defer { shares = [:] }
        return shares.values.flatMap { share in share.kinds.compactMap { share.waiting[$0] } }
    }
}

extension ControlLogEntry {
    /// This entry merged with an earlier one of the same kind.
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
