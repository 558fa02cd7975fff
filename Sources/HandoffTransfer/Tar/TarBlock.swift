/// A header of a tar archive: 512 bytes (POSIX.1, pax interchange format, ustar part).
struct TarBlock: Sendable {
    static let size = 512

    /// The byte ranges of the fields.
    enum Field {
        static let name = 0..<100
        static let mode = 100..<108
        static let size = 124..<136
        static let modified = 136..<148
        static let checksum = 148..<156
        static let type = 156
        static let magic = 257..<265
        static let prefix = 345..<500
    }

    /// The entry types that are written. All others are rejected when read.
    enum Kind {
        static let file = UInt8(ascii: "0")
        static let folder = UInt8(ascii: "5")
        static let extended = UInt8(ascii: "x")
    }

    /// The largest number of 11 octal digits.
    static let maxNumber: Int64 = 0o777_7777_7777

    private static let magic = Array("ustar\u{0}00".utf8)

    var bytes: [UInt8]

    /// Creates a header to be written. Numbers that do not fit go to the extended header and are 0
    /// here.
    init(kind: UInt8, name: [UInt8], prefix: [UInt8] = [], mode: UInt32, size: Int64, modified: Int64) {
        bytes = [UInt8](repeating: 0, count: Self.size)
        put(name, at: Field.name)
        put(prefix, at: Field.prefix)
        put(Int64(mode), digits: 7, at: Field.mode)
        put(0, digits: 7, at: 108..<116)
        put(0, digits: 7, at: 116..<124)
        put((0...Self.maxNumber).contains(size) ? size : 0, digits: 11, at: Field.size)
        put((0...Self.maxNumber).contains(modified) ? modified : 0, digits: 11, at: Field.modified)
        bytes[Field.type] = kind
        put(Self.magic, at: Field.magic)
        put(Int64(checksum), digits: 6, at: Field.checksum)
        bytes[Field.checksum.upperBound - 1] = UInt8(ascii: " ")
    }

    /// Wraps a received block of 512 bytes.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// True for a zero block. Two of them end an archive.
    var isZero: Bool { bytes.allSatisfy { $0 == 0 } }

    var kind: UInt8 { bytes[Field.type] }

    /// True if the format and the checksum are valid.
    var isValid: Bool {
        bytes[Field.magic].elementsEqual(Self.magic) && number(Field.checksum) == Int64(checksum)
    }

    /// Returns an octal number, followed by spaces or NULs, or nil if the field is not a number.
    func number(_ field: Range<Int>) -> Int64? {
        var value: Int64 = 0
        var end = field.upperBound
        while end > field.lowerBound, bytes[end - 1] == 0 || bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        guard end > field.lowerBound else { return nil }
        for digit in bytes[field.lowerBound..<end] {
            // At most twelve digits, so the value stays far below 2^63.
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) else { return nil }
            value = value << 3 | Int64(digit &- UInt8(ascii: "0"))
        }
        return value
    }

    /// Returns the text before the first NUL.
    func text(_ field: Range<Int>) -> [UInt8] {
        Array(bytes[field].prefix { $0 != 0 })
    }

    /// The path, composed of prefix and name.
    var path: [UInt8] {
        let prefix = text(Field.prefix)
        return prefix.isEmpty ? text(Field.name) : prefix + [UInt8(ascii: "/")] + text(Field.name)
    }

    /// The sum of all bytes, with the checksum field counted as spaces.
    private var checksum: Int {
        let field = bytes[Field.checksum].reduce(0) { $0 &+ Int($1) }
        return bytes.reduce(8 * Int(UInt8(ascii: " ")) - field) { $0 &+ Int($1) }
    }

    private mutating func put(_ text: [UInt8], at field: Range<Int>) {
        for (position, byte) in zip(field, text) { bytes[position] = byte }
    }

    /// Writes a number as octal digits. The bytes after them are unchanged.
    private mutating func put(_ value: Int64, digits: Int, at field: Range<Int>) {
        var rest = value
        for position in (field.lowerBound..<(field.lowerBound + digits)).reversed() {
            bytes[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest & 7)
            rest >>= 3
        }
    }

    /// The number of bytes that fill the last block of content of this size.
    static func padding(of size: Int64) -> Int {
        Int((512 - size % 512) % 512)
    }
}
