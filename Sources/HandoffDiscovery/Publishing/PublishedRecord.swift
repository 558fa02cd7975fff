package import LoopIO

/// One record to publish.
package enum PublishedRecord: Hashable, Sendable {
    /// Any record; `data` is in wire form.
    case raw(name: String, kind: RecordQuery.Kind, lifetime: UInt32, data: [UInt8], isShared: Bool)
    /// An A or AAAA record without a reverse one, since only one name per address can have that.
    case address(host: String, IPAddress)
}

extension PublishedRecord {
    /// Whether other devices have records of the same name and kind, so that they may be there side by side.
    package var isShared: Bool {
        switch self {
        case .raw(_, _, _, _, let isShared): isShared
        case .address: false
        }
    }
}
