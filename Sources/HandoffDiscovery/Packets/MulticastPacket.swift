/// The parts of a multicast DNS packet that concern this service. The bytes are untrusted and
/// parsed according to RFC 1035 section 4.1.
package struct MulticastPacket: Sendable, Equatable {
    package struct Record: Sendable, Equatable {
        /// The owner name, in lower case with dots; nil for a name that this protocol never uses.
        let owner: String?
        /// The target of a PTR record, in the same form; nil for other types.
        package let target: String?
        /// The lifetime in seconds; 0 withdraws the record.
        let lifetime: UInt32
        /// The record type, if this protocol uses it.
        package let kind: RecordQuery.Kind?
        /// The data of a TXT, SRV, A or AAAA record, with its name uncompressed; nil for other
        /// types and malformed data.
        package let data: [UInt8]?
    }

    /// True for a response or announcement, false for a query.
    package let isResponse: Bool
    /// The records of all sections of a response. Records of a query are not read.
    package let records: [Record]
    /// True if a response contains an alias (CNAME). Devices of this protocol never announce one.
    let hasAlias: Bool

    /// The CNAME record type (RFC 1035 section 3.2.2).
    private static let alias = UInt16(5)
    /// The maximum number of records, more than any packet of this protocol has. A packet with more
    /// is rejected.
    static let maxRecords = 64

    /// Returns nil if the bytes are not a packet, are truncated, have too many records, or contain
    /// a compression loop.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 12 else { return nil }
        isResponse = bytes[2] & 0x80 != 0
        guard isResponse else {
            records = []
            hasAlias = false
            return
        }
        var reader = Reader(bytes: bytes, offset: 4)
        guard let questions = reader.u16(), let answers = reader.u16(), let authorities = reader.u16(),
            let additional = reader.u16()
        else { return nil }
        let count = Int(answers) + Int(authorities) + Int(additional)
        guard count <= Self.maxRecords, questions <= Self.maxRecords else { return nil }
        for _ in 0..<questions {
            guard reader.name() != nil, reader.skip(4) else { return nil }
        }
        var records: [Record] = []
        var hasAlias = false
        for _ in 0..<count {
            guard let owner = reader.name(), let number = reader.u16(), reader.skip(2), let lifetime = reader.u32(),
                let length = reader.u16()
            else { return nil }
            let kind = UInt8(exactly: number).flatMap(RecordQuery.Kind.init)
            hasAlias = hasAlias || number == Self.alias
            var inside = reader
            guard reader.skip(Int(length)) else { return nil }
            let target = kind == .instances ? inside.name()?.text : nil
            records.append(
                Record(
                    owner: owner.text, target: target, lifetime: lifetime, kind: kind,
                    data: kind.flatMap { Self.data(of: $0, from: &inside, to: reader.offset) }))
        }
        self.records = records
        self.hasAlias = hasAlias
    }

    /// Returns the data of a record in the form that it has in a standalone record.
    private static func data(of kind: RecordQuery.Kind, from reader: inout Reader, to end: Int) -> [UInt8]? {
        switch kind {
        case .instances:
            return nil
        case .text, .ipv4, .ipv6:
            return [UInt8](reader.bytes[reader.offset..<end])
        case .target:
            let start = reader.offset
            guard reader.skip(6), reader.offset < end, let name = reader.name()?.text.flatMap(DomainName.init) else {
                return nil
            }
            return [UInt8](reader.bytes[start..<(start + 6)]) + name.wire
        }
    }

    /// Reads from the front. Its methods return nil or false at the end of the bytes.
    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var offset: Int

        mutating func skip(_ count: Int) -> Bool {
            guard bytes.count - offset >= count else { return false }
            offset += count
            return true
        }

        mutating func u16() -> UInt16? {
            guard skip(2) else { return nil }
            return UInt16(bytes[offset - 2]) << 8 | UInt16(bytes[offset - 1])
        }

        mutating func u32() -> UInt32? {
            guard let high = u16(), let low = u16() else { return nil }
            return UInt32(high) << 16 | UInt32(low)
        }

        struct Name {
            /// Nil if the name has characters that names of this protocol never have.
            let text: String?
        }

        /// Reads a name, compressed or not.
        mutating func name() -> Name? {
            var place = offset
            var end: Int?
            var text: [UInt8] = []
            var isPlain = true
            // Each label and each jump counts, so that the loop ends.
            for _ in 0..<128 {
                guard place < bytes.count else { return nil }
                let count = Int(bytes[place])
                switch count {
                case 0:
                    offset = end ?? place + 1
                    return Name(text: isPlain ? String(decoding: text, as: UTF8.self) : nil)
                case 1...DomainName.maxLabelByteCount:
                    guard bytes.count - place > count, text.count + count < DomainName.maxByteCount else {
                        return nil
                    }
                    if !text.isEmpty { text.append(UInt8(ascii: ".")) }
                    for byte in bytes[(place + 1)...(place + count)] {
                        let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                        if byte == UInt8(ascii: ".") || !(0x21...0x7e).contains(byte) { isPlain = false }
                        text.append(isLetter ? byte | 0x20 : byte)
                    }
                    place += count + 1
                case 0xc0...:
                    guard place + 1 < bytes.count else { return nil }
                    if end == nil { end = place + 2 }
                    let target = (count & 0x3f) << 8 | Int(bytes[place + 1])
                    // Pointers only lead backwards (RFC 1035 section 4.1.4).
                    guard target < place else { return nil }
                    place = target
                default:
                    return nil
                }
            }
            return nil
        }
    }
}
