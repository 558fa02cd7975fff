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
    /// The maximum size of all payloads of all origins in bytes, in equal shares. A process may
    /// usually lock 8 MiB.
    package static let maxSharedPayloads = 6 * 1024 * 1024
    /// Payloads are counted in units of this number of bytes, the size of a page.
    package static let payloadUnit = 4096
    /// The maximum number of lists of one origin, each of another generation.
    package static let maxLists = 4
    /// The maximum number of receipts of one device, and of all devices, in equal shares.
    package static let maxReceipts = 64
    package static let maxSharedReceipts = 1024
    /// The time for which a record is accepted after it has expired by the clock of its receiver, in
    /// seconds. Clocks may differ.
    package static let clockTolerance: UInt64 = 86_400

    /// The maximum size of the payloads of one origin in an account of this many members.
    package static func payloadShare(members: Int) -> Int { min(maxPayloads, maxSharedPayloads / max(members, 1)) }

    /// Returns the number of bytes by which a payload counts: the pages that it locks.
    package static func size(_ count: Int) -> Int { (count + payloadUnit - 1) / payloadUnit * payloadUnit }

    /// The maximum number of receipts of one device in an account of this many members.
    package static func receiptShare(members: Int) -> Int { min(maxReceipts, maxSharedReceipts / max(members, 1)) }
}
