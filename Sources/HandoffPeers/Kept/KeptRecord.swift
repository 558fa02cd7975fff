package import HandoffAccount
import HandoffCrypto
import HandoffJSON
package import HandoffModel
import HandoffProtocol

/// A signed record about the kept activities of a device, as devices exchange it.
package enum KeptRecord: Sendable {
    case copy(KeptCopy)
    case list(KeptList)
    case receipt(KeptReceipt)

    /// The name of the member that contains the record in a message.
    var kind: Kind {
        switch self {
        case .copy: .copy
        case .list: .list
        case .receipt: .receipt
        }
    }

    enum Kind: String, CaseIterable {
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

    var encoded: [UInt8] {
        switch self {
        case .copy(let copy): copy.encoded
        case .list(let list): list.encoded
        case .receipt(let receipt): receipt.encoded
        }
    }

    /// The time for which a new record is kept, in seconds.
    var lifetime: UInt64 {
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

    init(of encoded: [UInt8]) {
        self.init(checked: Array(SHA256.hash(encoded).prefix(Self.byteCount)))
    }
}

/// A record in a message, with the time for which the sender still keeps it.
struct SentKeptRecord {
    let record: KeptRecord
    /// The remaining time in seconds.
    let left: UInt64

    init(_ record: KeptRecord, left: UInt64) {
        self.record = record
        self.left = left
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
