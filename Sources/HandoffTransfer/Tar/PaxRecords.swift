/// The records of an extended header, which apply to the next entry (POSIX.1, pax interchange
/// format).
struct PaxRecords: Sendable {
    private(set) var path: [UInt8]?
    private(set) var size: Int64?
    private(set) var modified: Int64?

    /// The maximum number of records in one header. Fewer are ever written.
    private static let limit = 16

    /// Parses the records. Rejects all keys but these three: others would change the entry or have
    /// no use.
    init(_ bytes: ArraySlice<UInt8>) throws(TransferFailure) {
        var left = bytes
        var count = 0
        while !left.isEmpty {
            count &+= 1
            guard count <= Self.limit else { throw .malformed("too many extended records in the folder's archive") }
            let digits = left.prefix(7).prefix { $0 != UInt8(ascii: " ") }
            guard let length = Self.number(digits), length > Int64(digits.count &+ 1), length <= Int64(left.count)
            else {
                throw Self.damaged
            }
            let record = left.prefix(Int(length))
            left = left.dropFirst(Int(length))
            let content = record.dropFirst(digits.count &+ 1)
            guard content.last == UInt8(ascii: "\n"), let sign = content.firstIndex(of: UInt8(ascii: "=")) else {
                throw Self.damaged
            }
            try take(key: content[..<sign], value: content[(sign &+ 1)...].dropLast())
        }
    }

    private static let damaged = TransferFailure.malformed("an extended header of the folder's archive is damaged")

    private mutating func take(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>) throws(TransferFailure) {
        if key.elementsEqual("path".utf8) {
            guard path == nil else { throw Self.damaged }
            path = Array(value)
        } else if key.elementsEqual("size".utf8) {
            guard size == nil, let number = Self.number(value) else { throw Self.damaged }
            size = number
        } else if key.elementsEqual("mtime".utf8) {
            let isNegative = value.first == UInt8(ascii: "-")
            guard modified == nil, let number = Self.number(isNegative ? value.dropFirst() : value),
                number <= TransferLimits.seconds
            else { throw Self.damaged }
            modified = isNegative ? 0 &- number : number
        } else {
            throw TransferFailure(.unsafe, "an extended header of the folder's archive has an unknown record")
        }
    }

    /// Parses decimal digits in the range 0…2^63 - 1. Accepts nothing else.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (shifted, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) = shifted.addingReportingOverflow(Int64(digit &- UInt8(ascii: "0")))
            guard !first, !second else { return nil }
            value = sum
        }
        return value
    }
}
