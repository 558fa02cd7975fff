/// The gate tokens that were used under the present label: each opens the door once.
package struct SeenTokens: Sendable {
    /// Tokens that are remembered; then the server takes a new label, under which all old ones are void.
    package static let maximumCount = 4096

    /// Bytes of a token that are kept; half a token collides with no other by chance.
    private static let keptCount = 16

    private var seen: Set<[UInt8]> = []

    /// None seen yet.
    package init() {}

    /// True when it is time for a new label, and for an empty memory with it.
    package var isFull: Bool {
        seen.count >= Self.maximumCount
    }

    /// Notes a token that is valid; false when it was used before or there is no room, and must be refused.
    package mutating func insert(_ token: [UInt8]) -> Bool {
        guard !isFull else { return false }
        return seen.insert(Array(token.prefix(Self.keptCount))).inserted
    }
}
