/// A fast one-pass reader for the JSON that programs usually write: objects and arrays of strings
/// without escapes, short numbers and literals, well within every limit.
///
/// Jansson accepts everything that this reader accepts and reads it in the same way. The reader
/// returns nil for all other input, valid or not: an escape, an exponent, a duplicate key, an
/// exceeded limit, or malformed JSON. `JSONScan` and jansson then handle that input, so they remain
/// the only source of grammar rules and errors. Their cost, a tenth of a continuation, is paid only
/// where necessary.
struct JSONPlainReader {
    /// The maximum number of arrays and objects that enclose a value. Each level is a recursive
    /// call.
    private static let maxDepth = 32
    /// The maximum number of members in an object. Each key is compared with all preceding keys.
    private static let maxMembers = 32
    /// The maximum number of digits of an integer. No integer of this length overflows 64 bits.
    private static let maxDigits = 18
    /// The maximum number of digits of a number with a fraction. Without its point, it is below
    /// 2^53.
    private static let maxRealDigits = 15
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    private let text: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private var position = 0
    private var depth = 0
    /// Counted as in `JSONScan`.
    private var values = 1

    private init(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.text = text
        self.limits = limits
    }

    /// Returns the value of a document that is an object, or nil if this reader does not support
    /// it.
    static func read(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) -> JSON? {
        guard text.count <= limits.bytes else { return nil }
        var reader = JSONPlainReader(text, limits: limits)
        guard reader.next() == UInt8(ascii: "{"), let object = reader.object(), reader.next() == nil else { return nil }
        return object
    }

    /// Returns the next byte that is not whitespace, or nil at the end.
    private mutating func next() -> UInt8? {
        while position < text.count {
            let byte = text[position]
            position += 1
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            default: return byte
            }
        }
        return nil
    }

    private mutating func value(from first: UInt8?) -> JSON? {
        guard let first else { return nil }
        switch first {
        case UInt8(ascii: "\""): return string().map(JSON.string)
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "t"): return literal("rue", .bool(true))
        case UInt8(ascii: "f"): return literal("alse", .bool(false))
        case UInt8(ascii: "n"): return literal("ull", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        default: return nil
        }
    }

    /// Reads the rest of a literal. The caller checks that a bracket, a comma or whitespace
    /// follows.
    private mutating func literal(_ rest: StaticString, _ value: JSON) -> JSON? {
        let count = rest.utf8CodeUnitCount
        guard text.count - position >= count else { return nil }
        for offset in 0..<count where text[position + offset] != rest.utf8Start[offset] { return nil }
        position += count
        return value
    }

    /// Reads an object after its opening brace.
    private mutating func object() -> JSON? {
        guard open() else { return nil }
        var members: [JSONObject.Element] = []
        var byte = next()
        if byte != UInt8(ascii: "}") {
            members.reserveCapacity(4)
            while true {
                guard byte == UInt8(ascii: "\""), let key = string(), next() == UInt8(ascii: ":"),
                    members.count < Self.maxMembers, !members.contains(where: { $0.key.hasSameBytes(as: key) }),
                    let member = value(from: next())
                else { return nil }
                members.append((key, member))
                byte = next()
                if byte == UInt8(ascii: "}") { break }
                guard byte == UInt8(ascii: ","), separate(members.count) else { return nil }
                byte = next()
            }
        }
        depth -= 1
        return .object(JSONObject(distinct: members))
    }

    /// Reads an array after its opening bracket.
    private mutating func array() -> JSON? {
        guard open() else { return nil }
        var elements: [JSON] = []
        var byte = next()
        if byte != UInt8(ascii: "]") {
            while true {
                guard let element = value(from: byte) else { return nil }
                elements.append(element)
                byte = next()
                if byte == UInt8(ascii: "]") { break }
                guard byte == UInt8(ascii: ","), separate(elements.count) else { return nil }
                byte = next()
            }
        }
        depth -= 1
        return .array(elements)
    }

    private mutating func open() -> Bool {
        depth += 1
        values += 1
        return depth <= min(limits.depth, Self.maxDepth) && values <= limits.values
    }

    /// Counts a comma after `count` elements or members.
    private mutating func separate(_ count: Int) -> Bool {
        values += 1
        return count < limits.members && values <= limits.values
    }

    /// Reads a string after its opening quote.
    private mutating func string() -> String? {
        guard let end = text.firstIndex(of: UInt8(ascii: "\""), from: position) else { return nil }
        defer { position = end + 1 }
        return String(plain: UnsafeBufferPointer(rebasing: text[position..<end]))
    }

    /// Reads a number whose first byte has been consumed. The caller checks that a bracket, a comma
    /// or whitespace follows, which excludes an exponent.
    private mutating func number() -> JSON? {
        let isNegative = text[position - 1] == UInt8(ascii: "-")
        if !isNegative { position -= 1 }
        let start = position
        let whole = digits(atMost: Self.maxDigits)
        // Reject a number without digits or with a leading zero.
        guard position > start, text[start] != UInt8(ascii: "0") || position == start + 1 else { return nil }
        guard position < text.count, text[position] == UInt8(ascii: ".") else {
            // Jansson decides how to read a negative zero.
            return isNegative && whole == 0 ? nil : .integer(isNegative ? -whole : whole)
        }
        let wholeCount = position - start
        position += 1
        let point = position
        let fraction = digits(atMost: max(0, Self.maxRealDigits - wholeCount))
        guard position > point else { return nil }
        // Both are integers below 2^53, so their quotient is the double nearest to the number
        // (Clinger, 1990).
        let scale = Self.powersOfTen[position - point]
        let value = (Double(whole) * scale + Double(fraction)) / scale
        return .real(isNegative ? -value : value)
    }

    /// Reads up to `count` digits and returns their number.
    private mutating func digits(atMost count: Int) -> Int64 {
        let start = position
        var number: Int64 = 0
        while position < text.count, position - start < count,
            case let byte = text[position], (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        {
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
            position += 1
        }
        return number
    }
}
