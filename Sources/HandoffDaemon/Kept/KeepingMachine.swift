import HandoffAccount
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
/// app or the user withdraws it. One whose present state cannot be copied has no copy.
package struct KeepingMachine: Sendable {
    /// The time from a change of an activity to its copy.
    package static let interval = Duration.seconds(30)
    /// The maximum number of copied activities.
    package static let maxActivities = 8
    /// The age of a copy from which the next sleep replaces it, so that it lasts for its whole lifetime
    /// from then on.
    package static let refreshAge = Duration.seconds(3600)
    private static let lifetime = Duration.seconds(Int64(KeptLimits.lifetime))

    /// A local activity that may be copied.
    package struct Candidate: Equatable, Sendable {
        /// The id of its offer.
        package let offer: ActivityID
        /// The owner's handle.
        package let handle: ActivityID
        /// The id of its app; empty for none.
        package let app: String
        package let type: ActivityType
        /// The number of changes of its content so far.
        package let changes: UInt64
        /// True if the copy stays valid once the activity is no longer on offer.
        package let staysAfterEnd: Bool

        package init(
            offer: ActivityID, handle: ActivityID, app: String, type: ActivityType, changes: UInt64, staysAfterEnd: Bool
        ) {
            self.offer = offer
            self.handle = handle
            self.app = app
            self.type = type
            self.changes = changes
            self.staysAfterEnd = staysAfterEnd
        }
    }

    private struct Entry {
        /// The activity as it last was on offer.
        var candidate: Candidate
        /// The number of changes when it was last copied or skipped; nil if it never was.
        var handled: UInt64?
        /// The size of the copy in bytes; nil if there is none.
        var bytes: Int?
        /// The time of the last copy or skip.
        var handledAt: MonotonicInstant?
        /// The time at which the copy is due; nil if it is up to date.
        var due: MonotonicInstant?
        var isOffered = true
        /// The order of the last offers, greatest last.
        var order: UInt64
    }

    private var entries: [ActivityID: Entry] = [:]
    private var lastOrder: UInt64 = 0

    package init() {}

    /// The copied activities that other devices may continue, most recent first.
    package var activities: [ActivityID] {
        entries.filter { $0.value.bytes != nil }.sorted { $0.value.order > $1.value.order }.map(\.key)
    }

    /// True if a copied activity is no longer on offer.
    package var hasClosed: Bool { entries.values.contains { !$0.isOffered && $0.bytes != nil } }

    /// Applies the present candidates.
    ///
    /// - Parameters:
    ///   - candidates: most recent first.
    ///   - mayStay: returns whether the copy of an activity that is no longer on offer may stay.
    /// - Returns: true if a copied activity has ended, or is no longer on offer.
    package mutating func review(
        _ candidates: [Candidate], now: MonotonicInstant, mayStay: (Candidate) -> Bool = { _ in true }
    ) -> Bool {
        let before = entries.filter { $0.value.bytes != nil }.mapValues(\.isOffered)
        let present = Set(candidates.map(\.offer))
        for (offer, entry) in entries where !present.contains(offer) {
            if entry.candidate.staysAfterEnd, entry.bytes != nil, mayStay(entry.candidate) {
                entries[offer]?.isOffered = false
                entries[offer]?.due = nil
            } else {
                entries[offer] = nil
            }
        }
        for candidate in candidates.prefix(Self.maxActivities).reversed() {
            lastOrder += 1
            var entry = entries[candidate.offer] ?? Entry(candidate: candidate, order: lastOrder)
            entry.candidate = candidate
            entry.isOffered = true
            entry.order = lastOrder
            let hasExpired = entry.bytes != nil && Self.isOld(entry, Self.lifetime, at: now)
            if entry.handled != candidate.changes || hasExpired { entry.due = entry.due ?? now + Self.interval }
            entries[candidate.offer] = entry
        }
        for (offer, _) in byPrecedence.dropFirst(Self.maxActivities) { entries[offer] = nil }
        return before != entries.filter { $0.value.bytes != nil }.mapValues(\.isOffered)
    }

    /// The time at which the first copy is due.
    package var nextDeadline: MonotonicInstant? { entries.values.compactMap(\.due).min() }

    /// Returns the offers whose copies are due.
    package func due(at now: MonotonicInstant) -> [ActivityID] {
        entries.filter { $0.value.due.map { $0 <= now } ?? false }.map(\.key).sorted()
    }

    /// All offers with changes that their copies do not contain, or with old copies.
    package func pending(at now: MonotonicInstant) -> [ActivityID] {
        entries.filter { _, entry in
            entry.due != nil || entry.isOffered && entry.bytes != nil && Self.isOld(entry, Self.refreshAge, at: now)
        }.map(\.key).sorted()
    }

    private static func isOld(_ entry: Entry, _ age: Duration, at now: MonotonicInstant) -> Bool {
        entry.handledAt.map { $0 + age <= now } ?? false
    }

    /// Notes that the present state of an activity was copied, or cannot be copied.
    ///
    /// - Parameters:
    ///   - bytes: the size of the copy; nil if there is none.
    ///   - limit: the maximum size of all copies. The oldest ones that do not fit are dropped.
    package mutating func handled(_ offer: ActivityID, bytes: Int?, limit: Int, at now: MonotonicInstant) {
        guard var entry = entries[offer] else { return }
        entry.due = nil
        entry.handledAt = now
        entry.handled = entry.candidate.changes
        entry.bytes = bytes
        entries[offer] = entry
        // An activity that became current again has a new offer, whose copy replaces the former one.
        if bytes != nil {
            let handle = entry.candidate.handle
            entries = entries.filter { $0.key == offer || $0.value.isOffered || $0.value.candidate.handle != handle }
        }
        var sum = 0
        for (offer, entry) in byPrecedence {
            guard let bytes = entry.bytes else { continue }
            if sum + bytes > limit { entries[offer]?.bytes = nil } else { sum += bytes }
        }
    }

    /// Withdraws all copies of an activity.
    ///
    /// - Returns: true if there was one.
    package mutating func withdraw(_ handle: ActivityID) -> Bool {
        let mine = entries.filter { $0.value.candidate.handle == handle }
        for offer in mine.keys { entries[offer] = nil }
        return mine.values.contains { $0.bytes != nil }
    }

    /// Withdraws the copy of an offer.
    ///
    /// - Returns: true if there was one.
    package mutating func withdrawOffer(_ offer: ActivityID) -> Bool {
        entries.removeValue(forKey: offer)?.bytes != nil
    }

    /// Withdraws all copies.
    package mutating func withdrawAll() {
        entries = [:]
    }

    /// The activities on offer, then the others, each most recent first.
    private var byPrecedence: [(key: ActivityID, value: Entry)] {
        entries.sorted {
            ($0.value.isOffered ? 1 : 0, $0.value.order) > ($1.value.isOffered ? 1 : 0, $1.value.order)
        }
    }
}
