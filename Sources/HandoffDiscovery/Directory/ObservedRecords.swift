/// The records of one type that were reported and not withdrawn, oldest first.
///
/// Avahi reports a record once per interface and protocol. After an update, it reports the new
/// record up to a second before it withdraws the old one. Several therefore exist at the same time,
/// and the newest is used.
package struct ObservedRecords<Value: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var link: RecordLink
        var round: UInt32
    }

    private var entries: [Entry] = []
    /// The maximum number of records to keep. An unknown device can send any number.
    private let cap: Int

    init(cap: Int) { self.cap = cap }

    package var isEmpty: Bool { entries.isEmpty }

    /// Inserts a record as the newest. If there are too many, the oldest are removed.
    package mutating func insert(_ value: Value, on link: RecordLink, round: UInt32) {
        entries.removeAll { $0.link == link && $0.value == value }
        entries.append(Entry(value: value, link: link, round: round))
        if entries.count > cap { entries.removeFirst(entries.count - cap) }
    }

    /// Inserts a record as the only one on its link and removes all others there.
    mutating func replace(with value: Value, on link: RecordLink, round: UInt32) {
        entries.removeAll { $0.link == link }
        insert(value, on: link, round: round)
    }

    package mutating func remove(_ value: Value, on link: RecordLink) {
        entries.removeAll { $0.link == link && $0.value == value }
    }

    /// Removes a record unless it is the last. Any host can make a record disappear. While the
    /// instance itself is present, old information is better than none.
    mutating func removeUnlessLast(_ value: Value, on link: RecordLink) {
        if entries.contains(where: { $0.link != link || $0.value != value }) { remove(value, on: link) }
    }

    /// Removes records of earlier rounds that this round did not confirm.
    mutating func keep(round: UInt32) { entries.removeAll { $0.round != round } }

    /// Removes records that do not match.
    mutating func keep(where isKept: (Value) -> Bool) { entries.removeAll { !isKept($0.value) } }

    mutating func removeAll() { entries.removeAll() }

    /// Returns the newest record on an accepted link.
    package func newest(where accepts: (RecordLink) -> Bool) -> Value? { entries.last { accepts($0.link) }?.value }

    /// Returns all records on accepted links with their links, oldest first.
    package func all(where accepts: (RecordLink) -> Bool) -> [(value: Value, link: RecordLink)] {
        entries.filter { accepts($0.link) }.map { ($0.value, $0.link) }
    }
}
