/// How far a device's announcements have come: a newer start of the device first, then a later change within it.
package struct Position: Hashable, Comparable, Sendable {
    /// Number of the device's start; greater at every start, never 0.
    package let boot: UInt64

    /// Number of the change since that start, from 0.
    package let seq: UInt32

    /// Greatest start number that is accepted: it must fit JSON integers of every implementation.
    package static let maximumBoot = UInt64(Int64.max)

    /// A position as announced.
    package init(boot: UInt64, seq: UInt32) {
        self.boot = boot
        self.seq = seq
    }

    /// True when the left one is older.
    package static func < (left: Position, right: Position) -> Bool {
        (left.boot, left.seq) < (right.boot, right.seq)
    }
}
