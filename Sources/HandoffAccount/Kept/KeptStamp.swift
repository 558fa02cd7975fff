package import HandoffProtocol

/// The order of a device's kept records: by its position, then by time.
///
/// The device never uses one time twice in a generation, even if its clock is set back.
package struct KeptStamp: Hashable, Comparable, Sendable {
    /// The position of the device's announcements when it created the record.
    package let position: Position
    /// The time at which the state was saved, in seconds since 1970 by the device's clock.
    package let time: UInt64

    package init(position: Position, time: UInt64) {
        self.position = position
        self.time = time
    }

    /// Returns true if the left stamp is older.
    package static func < (left: KeptStamp, right: KeptStamp) -> Bool {
        (left.position, left.time) < (right.position, right.time)
    }
}

/// The maximum values of kept records. Each device applies them to every origin.
package enum KeptLimits {
    /// The maximum time for which a record is kept, in seconds.
    package static let lifetime: UInt64 = 86_400
    /// The maximum number of kept activities of one origin.
    package static let maxCopies = 8
    /// The maximum size of one payload in bytes.
    package static let maxPayload = 512 * 1024
    /// The maximum size of all payloads of one origin in bytes.
    package static let maxPayloads = 2 * 1024 * 1024
    /// The maximum number of receipts of one device.
    package static let maxReceipts = 64
}
