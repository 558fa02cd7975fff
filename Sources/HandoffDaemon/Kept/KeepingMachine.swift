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
///
/// Activities that the user has sent with a request to keep them come first, the oldest of them before
/// the others. Then come those on offer, and then the others, each most recent first. Copies that do
/// not fit are displaced, and made again once there is room.
package struct KeepingMachine: Sendable {
    /// The time from a change of an activity to its copy.
    package static let interval = Duration.seconds(30)
    /// The maximum number of copies.
    private static let maxCopies = KeptLimits.maxCopies
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
        /// True if it was sent to one device.
        package let isSent: Bool

        package init(
            offer: ActivityID, handle: ActivityID, app: String, type: ActivityType, changes: UInt64,
            staysAfterEnd: Bool, isSent: Bool = false
        ) {
            self.offer = offer
            self.handle = handle
            self.app = app
            self.type = type
            self.changes = changes
            self.staysAfterEnd = staysAfterEnd
            self.isSent = isSent
        }
    }

    /// The copies of one activity.
    package struct Size: Equatable, Sendable {
        /// Their number. An item that was sent can have several.
        package let copies: Int
        /// The sum of their sizes in bytes, as they count for the limits.
        package let bytes: Int

        package init(copies: Int, bytes: Int) {
            self.copies = copies
            self.bytes = bytes
        }
    }

    private struct Entry {
        /// The activity as it last was on offer.
        var candidate: Candidate
        /// The number of changes when it was last copied or skipped; nil if it never was.
        var handled: UInt64?
        /// The size of the copies that were made last; nil if there are none.
        var size: Size?
        /// True if the copies exist. False if they were displaced.
        var isCopied = false
        /// The time of the last copy or skip.
        var handledAt: MonotonicInstant?
        /// The time at which the copy is due; nil if it is up to date.
        var due: MonotonicInstant?
        var isOffered = true
        /// The order of the last offers, greatest last.
        var order: UInt64
        /// The order of the first offer.
        let firstOrder: UInt64

        /// Greatest first.
        var precedence: (Int, UInt64) {
            // An item that does not fit is reported to its user, but not one that is displaced later.
            candidate.isSent ? (2, .max - firstOrder) : (isOffered ? 1 : 0, order)
        }
    }

    private var entries: [ActivityID: Entry] = [:]
    private var lastOrder: UInt64 = 0
    /// The maximum size of all copies in bytes.
    private var limit = 0

    package init() {}

    /// The copied activities that other devices may continue, most recent first.
    package var activities: [ActivityID] {
        entries.filter { $0.value.isCopied }.sorted { $0.value.order > $1.value.order }.map(\.key)
    }

    /// Returns the number of copies of an activity.
    package func copies(of offer: ActivityID) -> Int {
        entries[offer].flatMap { $0.isCopied ? $0.size?.copies : nil } ?? 0
    }

    /// True if a copied activity is no longer on offer.
    package var hasClosed: Bool { entries.values.contains { !$0.isOffered && $0.isCopied } }

    /// Applies the present candidates.
    ///
    /// - Parameters:
    ///   - candidates: most recent first.
    ///   - limit: the maximum size of all copies in bytes.
    ///   - mayStay: returns whether the copy of an activity that is no longer on offer may stay.
    /// - Returns: true if a copied activity has ended, was displaced, or is no longer on offer.
    package mutating func review(
        _ candidates: [Candidate], limit: Int, now: MonotonicInstant, mayStay: (Candidate) -> Bool = { _ in true }
    ) -> Bool {
        self.limit = limit
        let before = entries.filter { $0.value.isCopied }.mapValues(\.isOffered)
        let present = Set(candidates.map(\.offer))
        for (offer, entry) in entries where !present.contains(offer) {
            if entry.candidate.staysAfterEnd, entry.isCopied, mayStay(entry.candidate) {
                entries[offer]?.isOffered = false
                entries[offer]?.due = nil
            } else {
                entries[offer] = nil
            }
        }
        for candidate in candidates.reversed() {
            lastOrder += 1
            var entry = entries[candidate.offer] ?? Entry(candidate: candidate, order: lastOrder, firstOrder: lastOrder)
            entry.candidate = candidate
            entry.isOffered = true
            entry.order = lastOrder
            let hasExpired = entry.isCopied && Self.isOld(entry, Self.lifetime, at: now)
            if entry.handled != candidate.changes || hasExpired { entry.due = entry.due ?? now + Self.interval }
            entries[candidate.offer] = entry
        }
        for (offer, _) in byPrecedence.dropFirst(Self.maxCopies) { entries[offer] = nil }
        for offer in displace() where entries[offer]?.isCopied == false {
            let due = entries[offer]?.due ?? now + Self.interval
            entries[offer]?.due = due
        }
        return before != entries.filter { $0.value.isCopied }.mapValues(\.isOffered)
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
            entry.due != nil || entry.isOffered && entry.isCopied && Self.isOld(entry, Self.refreshAge, at: now)
        }.map(\.key).sorted()
    }

    /// Makes all copies due again.
    package mutating func renew(now: MonotonicInstant) {
        for (offer, entry) in entries where entry.isOffered && entry.isCopied {
            entries[offer]?.due = entry.due ?? now + Self.interval
        }
    }

    /// Returns true if the last copy has the present state of an activity.
    package func isUnchanged(_ offer: ActivityID) -> Bool {
        entries[offer].map { $0.size != nil && $0.handled == $0.candidate.changes } ?? false
    }

    private static func isOld(_ entry: Entry, _ age: Duration, at now: MonotonicInstant) -> Bool {
        entry.handledAt.map { $0 + age <= now } ?? false
    }

    /// Notes that the present state of an activity was copied, or cannot be copied.
    ///
    /// - Parameters:
    ///   - size: the size of the copies; nil if there are none.
    package mutating func handled(_ offer: ActivityID, size: Size?, at now: MonotonicInstant) {
        guard var entry = entries[offer] else { return }
        entry.due = nil
        entry.handledAt = now
        entry.handled = entry.candidate.changes
        entry.size = size
        entry.isCopied = size != nil
        entries[offer] = entry
        // An activity that became current again has a new offer, whose copy replaces the former one.
        if size != nil {
            let handle = entry.candidate.handle
            entries = entries.filter { $0.key == offer || $0.value.isOffered || $0.value.candidate.handle != handle }
        }
        displace()
    }

    /// Displaces the copies that do not fit. Returns the activities whose copies fit.
    @discardableResult private mutating func displace() -> Set<ActivityID> {
        let fitting = fitting
        for offer in entries.keys where !fitting.contains(offer) { entries[offer]?.isCopied = false }
        return fitting
    }

    /// The activities whose copies fit into the limits, by their last sizes.
    private var fitting: Set<ActivityID> {
        var (copies, bytes) = (0, 0)
        var fitting: Set<ActivityID> = []
        for (offer, entry) in byPrecedence {
            guard let size = entry.size, copies + size.copies <= Self.maxCopies, bytes + size.bytes <= limit else {
                continue
            }
            copies += size.copies
            bytes += size.bytes
            fitting.insert(offer)
        }
        return fitting
    }

    /// Withdraws all copies of an activity.
    ///
    /// - Returns: true if there was one.
    package mutating func withdraw(_ handle: ActivityID) -> Bool {
        let mine = entries.filter { $0.value.candidate.handle == handle }
        for offer in mine.keys { entries[offer] = nil }
        return mine.values.contains { $0.isCopied }
    }

    /// Withdraws the copy of an offer.
    ///
    /// - Returns: true if there was one.
    package mutating func withdrawOffer(_ offer: ActivityID) -> Bool {
        entries.removeValue(forKey: offer)?.isCopied == true
    }

    /// Withdraws all copies.
    package mutating func withdrawAll() {
        entries = [:]
    }

    private var byPrecedence: [(key: ActivityID, value: Entry)] {
        entries.sorted { $0.value.precedence > $1.value.precedence }
    }
}
