/// What a packet of multicast DNS says of services like ours: bytes from strangers, read by RFC 1035 section 4.1.
package struct MulticastPacket: Sendable, Equatable {
    /// One record of a response.
    package struct Record: Sendable, Equatable {
        /// Whose it is, in lower case with dots; nil for a name that this protocol never has.
        package let owner: String?
        /// What a PTR record points to, in the same form; nil for other kinds.
        package let target: String?
        /// Its lifetime in seconds; 0 takes it back.
        package let lifetime: UInt32
        /// Its kind, if it is one that this protocol has.
        package let kind: RecordQuery.Kind?
        /// What a TXT, SRV, A or AAAA record says, with its name uncompressed; nil for other kinds, and what is malformed.
        package let data: [UInt8]?
    }

    /// Whether it answers or announces; otherwise it asks.
    package let isResponse: Bool
    /// The records of a response, of all sections; those of a question are not read.
    package let records: [Record]
    /// Whether a record of a response is an alias (CNAME). No device of this protocol announces one.
    package let hasAlias: Bool

    /// The number of the kind CNAME (RFC 1035 section 3.2.2).
    private static let alias = UInt16(5)
    /// More records than any packet of ours has; one with more is not read.
    package static let maxRecords = 64

    /// Nil for what is no packet, is cut, has too many records, or names that lead in circles.
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

    /// What a record says, in the form of records that stand by themselves.
    private static func data(of kind: RecordQuery.Kind, from reader: inout Reader, to end: Int) -> [UInt8]? {
        switch kind {
        case .instances:
            return nil
        case .text, .ipv4, .ipv6:
            return [UInt8](reader.bytes[reader.offset..<end])
        case .target:
            let begin = reader.offset
            guard reader.skip(6), reader.offset < end, let name = reader.name()?.text.flatMap(DomainName.init) else {
                return nil
            }
            return [UInt8](reader.bytes[begin..<(begin + 6)]) + name.wire
        }
    }

    /// Reads from the front; nil where the bytes end.
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
            /// Nil when it has characters that names of this protocol never have.
            let text: String?
        }

        /// A name, compressed or not.
        mutating func name() -> Name? {
            var place = offset
            var end: Int?
            var text: [UInt8] = []
            var isPlain = true
            // Each label and each jump counts, so that no name is read for ever.
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
                    // Only ever towards the front (RFC 1035 section 4.1.4).
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
