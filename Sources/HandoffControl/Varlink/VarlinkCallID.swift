/// Tells the calls of one connection apart inside one process; it never crosses the socket.
package struct VarlinkCallID: Hashable, Sendable, Comparable {
    /// Counts from 1 in the order of the calls.
    package let number: UInt64

    /// The id of the call with this number.
    package init(number: UInt64) {
        self.number = number
    }

    package static func < (left: VarlinkCallID, right: VarlinkCallID) -> Bool {
        left.number < right.number
    }

    /// The id of the call that follows.
    var next: VarlinkCallID {
        VarlinkCallID(number: number &+ 1)
    }
}
