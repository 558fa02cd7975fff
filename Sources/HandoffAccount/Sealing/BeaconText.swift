/// The strings of a beacon's TXT record: `v=1`, then `b0=`, `b1=`, `b2=` with 228 bytes each, then `m=` with the marks.
///
/// With their length bytes that is 831 bytes always, far below the 1,300 that mDNS delivers, and no string is above
/// the 250 that every DNS library takes.
package enum BeaconText {
    /// Bytes of the sealed beacon, salt and tag included.
    package static let sealedCount = partCount * partLength

    /// Bytes of the record's data: every string with its length byte.
    package static let recordCount =
        1 + version.count + partCount * (1 + 3 + partLength) + 1 + marksKey.count + Marks.byteCount

    private static let version = Array("v=1".utf8)
    private static let marksKey = Array("m=".utf8)
    private static let partCount = 3
    private static let partLength = 228

    /// Cuts a sealed beacon of exactly ``sealedCount`` bytes into strings.
    static func strings(_ sealed: [UInt8], _ marks: Marks) -> [[UInt8]] {
        precondition(sealed.count == sealedCount, "a beacon of \(sealed.count) bytes")
        return [version]
            + (0..<partCount).map { part in
                key(part) + sealed[(part * partLength)..<((part + 1) * partLength)]
            }
            + [marksKey + marks.bytes]
    }

    /// Joins the strings of a record, in whatever order they arrive; nil when the version is unknown, or a part is
    /// missing, doubled or of another size. Strings with other keys are left to later versions.
    static func sealed(in strings: [[UInt8]]) -> [UInt8]? {
        guard isOurs(strings) else { return nil }
        var sealed: [UInt8] = []
        for part in 0..<partCount {
            let found = strings.filter { $0.starts(with: key(part)) }
            guard found.count == 1, let string = found.first, string.count == 3 + partLength else { return nil }
            sealed += string.dropFirst(3)
        }
        return sealed
    }

    /// The marks of a record and the salt that they were made with. They are outside of the sealed beacon: who looks for one has
    /// no key to open that. Nil when the record is no beacon, or the marks are missing, doubled or of another size.
    package static func marks(in strings: [[UInt8]]) -> (marks: Marks, salt: [UInt8])? {
        guard let sealed = sealed(in: strings) else { return nil }
        let found = strings.filter { $0.starts(with: marksKey) }
        guard found.count == 1, let marks = found.first.flatMap({ Marks(bytes: $0.dropFirst(marksKey.count)) }) else {
            return nil
        }
        return (marks, Array(sealed.prefix(Envelope.saltCount)))
    }

    private static func isOurs(_ strings: [[UInt8]]) -> Bool {
        strings.filter { $0.starts(with: Array("v=".utf8)) } == [version]
    }

    private static func key(_ part: Int) -> [UInt8] {
        Array("b\(part)=".utf8)
    }
}
