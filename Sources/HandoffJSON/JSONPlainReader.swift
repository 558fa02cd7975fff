/// Reads a text in one pass as long as it is written as programs write messages: objects and arrays of plain texts, short numbers and
/// literals, far from every limit.
///
/// What it accepts, jansson accepts too and reads in the same way. For everything else, whether that is valid or not, it
/// gives nil: an escape, an exponent, a key that occurs twice, a limit, bytes that are no JSON. `JSONScan` and jansson then say what it
/// is. So the grammar and its errors stay theirs; what they cost, a tenth of a continuation, is spent only where it has to be.
struct JSONPlainReader {
    /// How many arrays and objects may enclose a value here; each is a call of the reader by itself.
    private static let maxDepth = 32
    /// How many members an object may have here: each key is compared with those before it.
    private static let maxMembers = 32
    /// How many digits a whole number may have here, none of which can be too large for 64 bits.
    private static let maxDigits = 18
    /// How many digits a number with a fraction may have here: without its point, it is below 2^53.
    private static let maxRealDigits = 15
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    private let text: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private var position = 0
    private var depth = 0
    /// As `JSONScan` counts them.
    private var values = 1

    private init(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.text = text
        self.limits = limits
    }

    /// The value of a whole text that is an object; nil when it is not as plain as that.
    static func read(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) -> JSON? {
        guard text.count <= limits.bytes else { return nil }
        var reader = JSONPlainReader(text, limits: limits)
        guard reader.next() == UInt8(ascii: "{"), let object = reader.object(), reader.next() == nil else { return nil }
        return object
    }

    /// The next byte that is no blank; nil at the end of the text.
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

    /// The rest of a word; what follows it must be a bracket, a comma or a blank, which the caller sees to.
    private mutating func literal(_ rest: StaticString, _ value: JSON) -> JSON? {
        let count = rest.utf8CodeUnitCount
        guard text.count - position >= count else { return nil }
        for offset in 0..<count where text[position + offset] != rest.utf8Start[offset] { return nil }
        position += count
        return value
    }

    /// An object behind its opening brace.
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

    /// An array behind its opening bracket.
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

    /// Counts a comma, behind so many elements or members.
    private mutating func separate(_ count: Int) -> Bool {
        values += 1
        return count < limits.members && values <= limits.values
    }

    /// A text behind its opening quote.
    private mutating func string() -> String? {
        guard let end = text.firstIndex(of: UInt8(ascii: "\""), from: position) else { return nil }
        defer { position = end + 1 }
        return String(plain: UnsafeBufferPointer(rebasing: text[position..<end]))
    }

    /// A number of which one byte is passed already. What follows it must be a bracket, a comma or a blank, and so no exponent,
    /// which the caller sees to.
    private mutating func number() -> JSON? {
        let isNegative = text[position - 1] == UInt8(ascii: "-")
        if !isNegative { position -= 1 }
        let start = position
        let whole = digits(atMost: Self.maxDigits)
        // No digit, or a zero in front of others.
        guard position > start, text[start] != UInt8(ascii: "0") || position == start + 1 else { return nil }
        guard position < text.count, text[position] == UInt8(ascii: ".") else {
            // Jansson's reader says what a zero behind a sign is.
            return isNegative && whole == 0 ? nil : .integer(isNegative ? -whole : whole)
        }
        let wholeCount = position - start
        position += 1
        let point = position
        let fraction = digits(atMost: max(0, Self.maxRealDigits - wholeCount))
        guard position > point else { return nil }
        // Both are whole and below 2^53, and so their quotient is the double that is nearest to the number (Clinger, 1990).
        let scale = Self.powersOfTen[position - point]
        let value = (Double(whole) * scale + Double(fraction)) / scale
        return .real(isNegative ? -value : value)
    }

    /// The number that the next digits are; those beyond so many are left.
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
