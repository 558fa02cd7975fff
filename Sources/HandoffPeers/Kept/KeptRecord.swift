package import HandoffAccount
import HandoffCrypto
package import HandoffJSON
package import HandoffModel
import HandoffProtocol

/// A signed record about the kept activities of a device, as devices exchange it.
package enum KeptRecord: Sendable {
    case copy(KeptCopy)
    case list(KeptList)
    case receipt(KeptReceipt)

    /// The name of the member that contains the record in a message.
    package var kind: Kind {
        switch self {
        case .copy: .copy
        case .list: .list
        case .receipt: .receipt
        }
    }

    package enum Kind: String, CaseIterable {
        case copy, list, receipt
    }

    /// Decodes a record. The signature remains unchecked.
    init(_ kind: Kind, decoding bytes: [UInt8]) throws(ByteError) {
        switch kind {
        case .copy: self = .copy(try KeptCopy(decoding: bytes))
        case .list: self = .list(try KeptList(decoding: bytes))
        case .receipt: self = .receipt(try KeptReceipt(decoding: bytes))
        }
    }

    /// The device that signed the record.
    package var signer: DeviceID {
        switch self {
        case .copy(let copy): copy.origin
        case .list(let list): list.origin
        case .receipt(let receipt): receipt.device
        }
    }

    /// The device whose activities it concerns.
    var origin: DeviceID {
        switch self {
        case .copy(let copy): copy.origin
        case .list(let list): list.origin
        case .receipt(let receipt): receipt.origin
        }
    }

    package var encoded: [UInt8] {
        switch self {
        case .copy(let copy): copy.encoded
        case .list(let list): list.encoded
        case .receipt(let receipt): receipt.encoded
        }
    }

    /// The time at which the record expires, in seconds since 1970 by its signer's clock.
    var end: UInt64 {
        switch self {
        case .copy(let copy): copy.end
        case .list(let list): list.end
        case .receipt(let receipt): receipt.time.addingReportingOverflow(KeptLimits.lifetime).partialValue
        }
    }

    /// The time for which a new record is kept, in seconds.
    package var lifetime: UInt64 {
        switch self {
        case .copy(let copy): copy.end - copy.stamp.time
        case .list(let list): list.end - list.stamp.time
        case .receipt: KeptLimits.lifetime
        }
    }

    /// Returns true if the device with this key signed the record.
    func isGenuine(_ key: PublicKey) -> Bool {
        switch self {
        case .copy(let copy): copy.isGenuine(key)
        case .list(let list): list.isGenuine(key)
        case .receipt(let receipt): receipt.isGenuine(key)
        }
    }
}

/// The name of a record: the first 16 bytes of the SHA-256 of its encoding. The purposes of the
/// signatures make encodings of different kinds different.
package struct KeptName: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(of encoded: [UInt8]) {
        self.init(checked: Array(SHA256.hash(encoded).prefix(Self.byteCount)))
    }
}

/// A record in a message, with the time for which the sender still keeps it.
package struct SentKeptRecord: Sendable {
    package let record: KeptRecord
    /// The remaining time in seconds.
    package let left: UInt64

    package init(_ record: KeptRecord, left: UInt64) {
        self.record = record
        self.left = left
    }

    /// Decodes the member `records` of a message; nil if it violates its layout.
    package static func list(_ object: JSONObject) -> [SentKeptRecord]? {
        guard let elements = object["records"]?.array, elements.count <= KeptSyncMachine.maxRecords else { return nil }
        return try? elements.map { element throws(KeptMessageError) in try SentKeptRecord(json: element) }
    }

    /// Returns the element of `records` for a record with this encoding.
    package func json(_ encoded: [UInt8]) -> JSON {
        .object([record.kind.rawValue: .string(Base64.encode(encoded)), "left": .integer(Int64(clamping: left))])
    }

    /// Decodes an element of `records`.
    init(json: JSON) throws(KeptMessageError) {
        guard let object = json.object, let left = object["left"]?.integer.flatMap(UInt64.init(exactly:)) else {
            throw KeptMessageError()
        }
        let found = KeptRecord.Kind.allCases.compactMap { kind in object[kind.rawValue]?.string.map { (kind, $0) } }
        guard let (kind, text) = found.first, found.count == 1, let bytes = Base64.decode(text),
            let record = try? KeptRecord(kind, decoding: bytes)
        else { throw KeptMessageError() }
        self.init(record, left: left)
    }
}

/// A message about kept activities violates its layout.
struct KeptMessageError: Error {}
