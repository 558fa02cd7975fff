/// The members of a JSON object, in the order in which they were written.
///
/// Keys are compared as UTF-8 bytes. Equality and hashing ignore the order.
package struct JSONObject: Sendable {
    package typealias Element = (key: String, value: JSON)

    /// The number of members above which an index is kept. Below it, a linear search is faster than
    /// hashing.
    private static let indexThreshold = 16

    private(set) var members: [Element]
    /// Indices into `members`; nil while the object is small.
    private var index: [BytewiseText: Int]?

    package init() {
        members = []
    }

    /// Creates an object with the members in order. For a repeated key, the last value is used.
    package init(_ elements: some Sequence<(String, JSON)>) {
        self.init()
        members.reserveCapacity(elements.underestimatedCount)
        for (key, value) in elements { self[key] = value }
    }

    /// Creates an object from members whose keys are known to differ, such as those of the parser,
    /// which rejects duplicates.
    package init(distinct members: [Element]) {
        self.members = members
        rebuildIndex()
        assert(hasDistinctKeys, "one key has two values")
    }

    private var hasDistinctKeys: Bool {
        Set(members.lazy.map { BytewiseText($0.key) }).count == members.count
    }

    /// Appends a member without a lookup. The key must be new.
    mutating func append(_ key: String, _ value: JSON) {
        assert(position(of: key) == nil, "one key has two values")
        members.append((key, value))
        if index != nil {
            index?[BytewiseText(key)] = members.count - 1
        } else if members.count > Self.indexThreshold {
            rebuildIndex()
        }
    }

    package var count: Int {
        members.count
    }

    package var isEmpty: Bool {
        members.isEmpty
    }

    /// The keys, in order.
    package var keys: [String] {
        members.map(\.key)
    }

    package var first: Element? {
        members.first
    }

    /// The value of a key. Setting nil removes the member. Setting a value replaces the value in
    /// place or appends a member.
    package subscript(_ key: String) -> JSON? {
        get {
            position(of: key).map { members[$0].value }
        }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?):
                members[position].value = value
            case (let position?, nil):
                members.remove(at: position)
                rebuildIndex()
            case (nil, let value?):
                append(key, value)
            case (nil, nil):
                break
            }
        }
    }

    private func position(of key: String) -> Int? {
        if let index { return index[BytewiseText(key)] }
        // This loop uses indices because a closure would receive copies.
        for position in members.indices where members[position].key.hasSameBytes(as: key) { return position }
        return nil
    }

    private mutating func rebuildIndex() {
        guard members.count > Self.indexThreshold else {
            index = nil
            return
        }
        var rebuilt = [BytewiseText: Int](minimumCapacity: members.count)
        for (position, member) in members.enumerated() { rebuilt[BytewiseText(member.key)] = position }
        index = rebuilt
    }
}

extension JSONObject: Sequence {
    package func makeIterator() -> IndexingIterator<[Element]> {
        members.makeIterator()
    }

    package var underestimatedCount: Int {
        members.count
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(distinct: elements.map { (key: $0, value: $1) })
    }
}

extension JSONObject: Hashable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    package func hash(into hasher: inout Hasher) {
        // The sum of the members' hashes does not depend on their order.
        var sum = 0
        for member in members {
            var own = Hasher()
            member.key.hashBytes(into: &own)
            own.combine(member.value)
            sum &+= own.finalize()
        }
        hasher.combine(sum)
    }
}
