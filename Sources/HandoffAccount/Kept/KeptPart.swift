import HandoffCrypto
package import HandoffModel
import HandoffProtocol

/// The header of a part of an item: an activity that was sent to one device, with its file. Parts are
/// the payloads of copies. The rest of each part is sealed.
///
/// The header is authenticated by the seal. Parts of another item, version, number or count are
/// therefore not joined, and an item without one of its parts is not opened.
package struct KeptPart: Equatable, Sendable {
    /// The first byte of a part. The payloads of all other copies are JSON objects.
    private static let form: UInt8 = 0
    /// The number of bytes before the salt.
    static let headerCount = 67
    package static let versionCount = 16
    /// The number of bytes that a part adds to its share of the item.
    package static let overhead = headerCount + Envelope.overhead
    /// The maximum number of bytes of an item in one part.
    package static let maxContent = KeptLimits.maxPayload - overhead

    package let recipient: DeviceID
    /// The id of the offer.
    package let item: ActivityID
    /// Random bytes, other ones each time an item is sealed.
    package let version: [UInt8]
    /// The number of this part, from 0.
    package let number: Int
    /// The number of parts of the item.
    package let count: Int

    /// - Returns: nil if the values are invalid.
    init?(recipient: DeviceID, item: ActivityID, version: [UInt8], number: Int, count: Int) {
        guard (1...KeptLimits.maxCopies).contains(count), (0..<count).contains(number),
            version.count == Self.versionCount
        else { return nil }
        self.recipient = recipient
        self.item = item
        self.version = version
        self.number = number
        self.count = count
    }

    /// Decodes the header of a payload; nil if it is not a part.
    package init?(_ payload: [UInt8]) {
        guard payload.count > Self.overhead else { return nil }
        var reader = ByteReader(payload)
        guard (try? reader.u8()) == Self.form, let recipient = try? DeviceID(reading: &reader),
            let item = try? reader.bytes(ActivityID.byteCount), let version = try? reader.bytes(Self.versionCount),
            let number = try? reader.u8(), let count = try? reader.u8()
        else { return nil }
        self.init(
            recipient: recipient, item: ActivityID(checked: item), version: version, number: Int(number),
            count: Int(count))
    }

    /// Returns whether a payload is a part, which may be invalid.
    package static func isPart(_ payload: [UInt8]) -> Bool { payload.first == form }

    /// The activity of the copy that contains the part.
    package var activity: ActivityID { Self.activity(of: item, number: number) }

    /// Returns the activity of the copy that contains a part of an item: that of the first one is the
    /// item itself.
    package static func activity(of item: ActivityID, number: Int) -> ActivityID {
        guard number > 0 else { return item }
        let input = Array("handoff/1 kept part".utf8) + [0] + item.bytes + [UInt8(clamping: number)]
        return ActivityID(checked: Array(SHA256.hash(input).prefix(ActivityID.byteCount)))
    }

    /// Returns true if the other part belongs to the same version of the same item.
    package func belongs(with other: KeptPart) -> Bool {
        (recipient, item, version, count) == (other.recipient, other.item, other.version, other.count)
    }

    var header: [UInt8] {
        var writer = ByteWriter(capacity: Self.headerCount)
        writer.u8(Self.form)
        writer.raw(recipient.bytes)
        writer.raw(item.bytes)
        writer.raw(version)
        writer.u8(UInt8(clamping: number))
        writer.u8(UInt8(clamping: count))
        return writer.bytes
    }

    /// Returns the ranges of the parts of an item with this number of bytes. An empty one has a part, too.
    static func ranges(_ bytes: Int) -> [Range<Int>] {
        stride(from: 0, to: max(bytes, 1), by: maxContent).map { $0..<min($0 + maxContent, bytes) }
    }

    /// Returns the sizes of the payloads of an item with this number of bytes.
    package static func sizes(_ bytes: Int) -> [Int] { ranges(bytes).map { $0.count + overhead } }

    /// Returns the maximum number of bytes of an item that uses up a share.
    package static func maxItem(share: Int) -> Int {
        let pages = share / KeptLimits.payloadUnit * KeptLimits.payloadUnit
        let parts = (pages + KeptLimits.maxPayload - 1) / KeptLimits.maxPayload
        return pages - parts * overhead
    }
}

/// The content of an item before it is sealed: the activity, and its file.
package struct KeptItemContent {
    /// The number of bytes before the payload: its length.
    private static let lengthCount = 4

    /// The JSON object that `continue` would have returned.
    package let payload: [UInt8]
    /// The bytes of the file that are in the first part.
    package let content: ArraySlice<UInt8>

    /// Decodes the first part of an item; nil if the part is invalid.
    package init?(first bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let length = try? reader.u32(), length <= bytes.count - Self.lengthCount else { return nil }
        payload = Array(bytes[Self.lengthCount..<(Self.lengthCount + Int(length))])
        content = bytes[(Self.lengthCount + Int(length))...]
    }

    /// Returns the bytes of an item; nil if the payload does not fit into the first part.
    package static func encode(payload: [UInt8], content: [UInt8]) -> [UInt8]? {
        guard lengthCount + payload.count <= KeptPart.maxContent else { return nil }
        var writer = ByteWriter(capacity: lengthCount + payload.count + content.count)
        writer.u32(UInt32(clamping: payload.count))
        writer.raw(payload)
        writer.raw(content)
        return writer.bytes
    }

    /// The number of bytes of an item with a payload and a file of these sizes.
    package static func size(payload: Int, content: Int) -> Int { lengthCount + payload + content }
}
