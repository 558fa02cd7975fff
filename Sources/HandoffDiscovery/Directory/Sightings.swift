/// The records of one kind that were reported and not taken back, oldest first.
///
/// Avahi reports a record once per interface and protocol, and after an update it reports the new one up to a second
/// before it takes the old one back: so several live side by side, and the newest counts.
package struct Sightings<Value: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var link: RecordLink
        var round: UInt32
    }

    private var entries: [Entry] = []
    /// The most records to keep; a stranger can tell any number.
    private let cap: Int

    package init(cap: Int) { self.cap = cap }

    package var isEmpty: Bool { entries.isEmpty }

    /// Takes one in as the newest. If there are too many, the oldest go.
    package mutating func insert(_ value: Value, on link: RecordLink, round: UInt32) {
        entries.removeAll { $0.link == link && $0.value == value }
        entries.append(Entry(value: value, link: link, round: round))
        if entries.count > cap { entries.removeFirst(entries.count - cap) }
    }

    /// Takes one in that is the only one on its link: what was there before is gone.
    package mutating func replace(with value: Value, on link: RecordLink, round: UInt32) {
        entries.removeAll { $0.link == link }
        insert(value, on: link, round: round)
    }

    /// Takes one back.
    package mutating func remove(_ value: Value, on link: RecordLink) {
        entries.removeAll { $0.link == link && $0.value == value }
    }

    /// Takes one back if there is another. Anyone can make a record vanish, and while the instance itself is there, what
    /// was known of it is better than nothing.
    package mutating func removeUnlessLast(_ value: Value, on link: RecordLink) {
        if entries.contains(where: { $0.link != link || $0.value != value }) { remove(value, on: link) }
    }

    /// Forgets what an earlier round told and this one did not confirm.
    package mutating func keep(round: UInt32) { entries.removeAll { $0.round != round } }

    /// Forgets what is not so.
    package mutating func keep(where isKept: (Value) -> Bool) { entries.removeAll { !isKept($0.value) } }

    package mutating func removeAll() { entries.removeAll() }

    /// The newest on a link that counts.
    package func newest(where counts: (RecordLink) -> Bool) -> Value? { entries.last { counts($0.link) }?.value }

    /// All different ones on links that count with these links, oldest first.
    package func all(where counts: (RecordLink) -> Bool) -> [(value: Value, link: RecordLink)] {
        entries.filter { counts($0.link) }.map { ($0.value, $0.link) }
    }
}
