package import LoopIO

/// How often something may happen: so often at once, and again after a while each. Plain values with time as a parameter.
package struct Allowance: Sendable {
    private let most: Int
    private let interval: Duration
    private var used: [LoopInstant] = []

    /// - Parameters:
    ///   - most: how often at once, at least once.
    ///   - interval: after how long one of them counts no more.
    package init(most: Int, within interval: Duration) {
        self.most = most
        self.interval = interval
    }

    /// Takes one; false when there is none left.
    package mutating func take(now: LoopInstant) -> Bool {
        used.removeAll { now - $0 >= interval }
        guard used.count < most else { return false }
        used.append(now)
        return true
    }
}
