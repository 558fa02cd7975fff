package import HandoffModel

/// Decides which local activities are copied for the members that keep activities, and when. Plain
/// values with time as a parameter.
///
/// ```
///              changed / in 30 s            due, or the device goes to sleep / copy
/// unknown ───────────────────► pending ─────────────────────────────────────► copied
///    ▲                            ▲                                              │
///    │                            └──────────────── changed / in 30 s ───────────┤
///    └───────────────────────── withdrawn, or ended / list ──────────────────────┘
/// ```
///
/// An activity whose app declared it (`keep`) stays copied after it is no longer on offer, until the
/// app or the user withdraws it.
package struct KeepingMachine: Sendable {
    /// The time from a change of an activity to its copy.
    package static let interval = Duration.seconds(30)
    /// The maximum number of copied activities.
    package static let maxActivities = 8

    /// A local activity that may be copied.
    package struct Candidate: Equatable, Sendable {
        /// The id of its offer.
        package let offer: ActivityID
        /// The owner's handle.
        package let handle: ActivityID
        /// The number of changes of its content so far.
        package let changes: UInt64
        /// True if the copy stays valid once the activity is no longer on offer.
        package let staysAfterEnd: Bool

        package init(offer: ActivityID, handle: ActivityID, changes: UInt64, staysAfterEnd: Bool) {
            self.offer = offer
            self.handle = handle
            self.changes = changes
            self.staysAfterEnd = staysAfterEnd
        }
    }

    private struct Entry {
        let handle: ActivityID
        /// The number of changes that the copy contains; nil if there is no copy.
        var copied: UInt64?
        /// The number of changes as of now.
        var changes: UInt64
        /// The time at which the copy is due; nil if it is up to date.
        var due: MonotonicInstant?
        var staysAfterEnd: Bool
        var isOffered = true
        /// The order of the last offers, greatest last.
        var order: UInt64
    }

    private var entries: [ActivityID: Entry] = [:]
    private var lastOrder: UInt64 = 0

    package init() {}

    /// The copied activities that other devices may continue, most recent first.
    package var activities: [ActivityID] {
        entries.filter { $0.value.copied != nil }.sorted { $0.value.order > $1.value.order }.map(\.key)
    }

    /// Applies the present candidates.
    ///
    /// - Parameters:
    ///   - candidates: most recent first.
    ///   - endedStay: false to withdraw the copies of activities that are no longer on offer.
    /// - Returns: true if a copied activity has ended, or is no longer on offer.
    package mutating func review(_ candidates: [Candidate], endedStay: Bool = true, now: MonotonicInstant) -> Bool {
        let before = entries.filter { $0.value.copied != nil }.mapValues(\.isOffered)
        let present = Set(candidates.map(\.offer))
        for (offer, entry) in entries where !present.contains(offer) {
            if endedStay, entry.staysAfterEnd, entry.copied != nil {
                entries[offer]?.isOffered = false
                entries[offer]?.due = nil
            } else {
                entries[offer] = nil
            }
        }
        for candidate in candidates.prefix(Self.maxActivities).reversed() {
            lastOrder += 1
            var entry =
                entries[candidate.offer]
                ?? Entry(
                    handle: candidate.handle, changes: candidate.changes, staysAfterEnd: candidate.staysAfterEnd,
                    order: lastOrder)
            entry.changes = candidate.changes
            entry.staysAfterEnd = candidate.staysAfterEnd
            entry.isOffered = true
            entry.order = lastOrder
            if entry.copied != candidate.changes { entry.due = entry.due ?? now + Self.interval }
            entries[candidate.offer] = entry
        }
        limit()
        return before != entries.filter { $0.value.copied != nil }.mapValues(\.isOffered)
    }

    /// The time at which the first copy is due.
    package var nextDeadline: MonotonicInstant? { entries.values.compactMap(\.due).min() }

    /// Returns the offers whose copies are due.
    package func due(at now: MonotonicInstant) -> [ActivityID] {
        entries.filter { $0.value.due.map { $0 <= now } ?? false }.map(\.key).sorted()
    }

    /// All offers with changes that their copies do not contain.
    package var pending: [ActivityID] { entries.filter { $0.value.due != nil }.map(\.key).sorted() }

    /// Notes that an activity was copied with a number of changes.
    package mutating func copied(_ offer: ActivityID, changes: UInt64) {
        entries[offer]?.copied = changes
        if entries[offer]?.changes == changes { entries[offer]?.due = nil }
    }

    /// Notes that an activity cannot be copied in its present state.
    package mutating func skipped(_ offer: ActivityID) {
        entries[offer]?.due = nil
    }

    /// Withdraws all copies of an activity.
    ///
    /// - Returns: true if there was one.
    package mutating func withdraw(_ handle: ActivityID) -> Bool {
        let mine = entries.filter { $0.value.handle == handle }
        for offer in mine.keys { entries[offer] = nil }
        return mine.values.contains { $0.copied != nil }
    }

    /// Withdraws the copy of an offer.
    ///
    /// - Returns: true if there was one.
    package mutating func withdrawOffer(_ offer: ActivityID) -> Bool {
        entries.removeValue(forKey: offer)?.copied != nil
    }

    /// Withdraws all copies.
    package mutating func withdrawAll() {
        entries = [:]
    }

    /// Drops the oldest activities above the maximum number. Those on offer take precedence.
    private mutating func limit() {
        let ordered = entries.sorted {
            ($0.value.isOffered ? 1 : 0, $0.value.order) > ($1.value.isOffered ? 1 : 0, $1.value.order)
        }
        for (offer, _) in ordered.dropFirst(Self.maxActivities) { entries[offer] = nil }
    }
}
