/// Reads JSON text in one pass, by the rules of `JSON.init(parsing:limits:)`.
///
/// Each limit is checked before memory is allocated. Each array and object is a recursive call, so
/// `JSONLimits.depth` also limits the stack. An error never quotes the document, which may be
/// private.
struct JSONReader {
    /// The maximum number of digits of an integer that is known to fit 64 bits.
    private static let maxPlainDigits = 18
    /// The maximum number of digits of a number with a fraction that is known to be below 2^53
    /// without its point.
    private static let maxPlainRealDigits = 15
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    private let text: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private var position = 0
    private var depth = 0
    /// 1, and 1 for each opening bracket and each comma.
    private var values = 1

    private init(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.text = text
        self.limits = limits
    }

    /// Returns the value of a document.
    static func read(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) -> JSON {
        guard text.count <= limits.bytes else { throw .tooLarge }
        var reader = JSONReader(text, limits: limits)
        let value = try reader.value(from: reader.next())
        guard reader.next() == nil else { throw reader.syntax("bytes after the end") }
        return value
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

    /// The error for the byte that was read last, or for the end.
    private func syntax(_ message: String = "invalid syntax") -> JSONError {
        .syntax(message: message, position: max(0, position - 1))
    }

    /// The error for a byte that the grammar does not allow here, or for the end.
    private func unexpected(_ byte: UInt8?) -> JSONError {
        byte == nil ? syntax("unexpected end") : syntax()
    }

    private mutating func value(from first: UInt8?) throws(JSONError) -> JSON {
        guard let first else { throw unexpected(nil) }
        return switch first {
        case UInt8(ascii: "\""): .string(try string())
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "t"): try literal("rue", .bool(true))
        case UInt8(ascii: "f"): try literal("alse", .bool(false))
        case UInt8(ascii: "n"): try literal("ull", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        default: throw unexpected(first)
        }
    }

    /// Reads the rest of a literal. The caller checks the byte that follows it.
    private mutating func literal(_ rest: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        for offset in 0..<rest.utf8CodeUnitCount {
            guard skip(rest.utf8Start[offset]) else { throw unexpected(next()) }
        }
        return value
    }

    // MARK: Arrays and objects

    /// Reads an object after its opening brace.
    private mutating func object() throws(JSONError) -> JSON {
        try open()
        var members: [JSONObject.Element] = []
        var keys: Set<BytewiseText> = []
        var byte = next()
        if byte != UInt8(ascii: "}") {
            members.reserveCapacity(4)
            while true {
                guard byte == UInt8(ascii: "\"") else { throw unexpected(byte) }
                let key = try string(isKey: true)
                guard Self.isNew(key, members, &keys) else { throw syntax("duplicate key") }
                byte = next()
                guard byte == UInt8(ascii: ":") else { throw unexpected(byte) }
                members.append((key, try value(from: next())))
                byte = next()
                if byte == UInt8(ascii: "}") { break }
                try separate(byte, members.count)
                byte = next()
            }
        }
        depth -= 1
        return .object(JSONObject(distinct: members))
    }

    /// Returns whether no member has the key. Few keys are compared with each other. For more,
    /// `keys` becomes the set of all.
    private static func isNew(
        _ key: String, _ members: [JSONObject.Element], _ keys: inout Set<BytewiseText>
    ) -> Bool {
        guard members.count > 16 else {
            for position in members.indices where members[position].key.hasSameBytes(as: key) { return false }
            return true
        }
        if keys.isEmpty { keys = Set(members.lazy.map { BytewiseText($0.key) }) }
        return keys.insert(BytewiseText(key)).inserted
    }

    /// Reads an array after its opening bracket.
    private mutating func array() throws(JSONError) -> JSON {
        try open()
        var elements: [JSON] = []
        var byte = next()
        if byte != UInt8(ascii: "]") {
            while true {
                elements.append(try value(from: byte))
                byte = next()
                if byte == UInt8(ascii: "]") { break }
                try separate(byte, elements.count)
                byte = next()
            }
        }
        depth -= 1
        return .array(elements)
    }

    /// Counts an opening bracket.
    private mutating func open() throws(JSONError) {
        guard depth < limits.depth else { throw .tooDeep }
        depth += 1
        values += 1
        guard values <= limits.values else { throw .tooManyValues }
    }

    /// Checks that `byte` is a comma, and counts it. `count` elements or members precede it.
    private mutating func separate(_ byte: UInt8?, _ count: Int) throws(JSONError) {
        guard byte == UInt8(ascii: ",") else { throw unexpected(byte) }
        guard count < limits.members else { throw .tooManyMembers }
        values += 1
        guard values <= limits.values else { throw .tooManyValues }
    }

    // MARK: Strings

    /// Reads a string after its opening quote.
    private mutating func string(isKey: Bool = false) throws(JSONError) -> String {
        guard let quote = text.firstIndex(of: UInt8(ascii: "\""), from: position) else {
            position = text.count
            throw syntax("unexpected end")
        }
        guard let plain = String(plain: UnsafeBufferPointer(rebasing: text[position..<quote])) else {
            return try escapedString(isKey: isKey)
        }
        position = quote + 1
        return plain
    }

    /// Reads a string that has an escape or is invalid.
    private mutating func escapedString(isKey: Bool) throws(JSONError) -> String {
        var bytes: [UInt8] = []
        while position < text.count {
            let start = position
            while position < text.count, Self.isPlain(text[position]) { position += 1 }
            bytes.append(contentsOf: text[start..<position])
            guard position < text.count else { break }
            position += 1
            switch text[position - 1] {
            case UInt8(ascii: "\""):
                guard !isKey || !bytes.contains(0) else { throw syntax("NUL in a key") }
                guard let string = bytes.withUnsafeBufferPointer({ String(utf8: $0) }) else {
                    throw syntax("invalid UTF-8")
                }
                return string
            case UInt8(ascii: "\\"): try escape(into: &bytes)
            default: throw syntax()
            }
        }
        throw syntax("unexpected end")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Reads an escape after its backslash.
    private mutating func escape(into bytes: inout [UInt8]) throws(JSONError) {
        guard position < text.count else { throw syntax("unexpected end") }
        let byte = text[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            let halfPair = "half of a surrogate pair in a string"
            var code = try hexadecimal()
            if 0xD800..<0xDC00 ~= code, text[position...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
                position += 2
                let low = try hexadecimal()
                guard 0xDC00..<0xE000 ~= low else { throw syntax(halfPair) }
                code = 0x1_0000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            // Only surrogates are not scalars.
            guard let scalar = Unicode.Scalar(code) else { throw syntax(halfPair) }
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default: throw syntax()
        }
    }

    /// Reads the four digits of an escape.
    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard position < text.count else { throw syntax("unexpected end") }
            let byte = text[position]
            position += 1
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): code = code << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): code = code << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): code = code << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: throw syntax()
            }
        }
        return code
    }

    // MARK: Numbers

    /// Reads a number whose first byte has been read. The caller checks the byte that follows it.
    private mutating func number() throws(JSONError) -> JSON {
        let start = position - 1
        let isNegative = text[start] == UInt8(ascii: "-")
        if !isNegative { position = start }
        let whole = try digits()
        guard whole.count == 1 || text[position - whole.count] != UInt8(ascii: "0") else { throw syntax() }
        var fraction: (value: Int64, count: Int)?
        if skip(UInt8(ascii: ".")) { fraction = try digits() }
        let hasExponent = skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E"))
        if hasExponent {
            if !skip(UInt8(ascii: "-")) { _ = skip(UInt8(ascii: "+")) }
            _ = try digits()
        }
        switch fraction {
        case nil where !hasExponent && whole.count <= Self.maxPlainDigits:
            return .integer(isNegative ? -whole.value : whole.value)
        case nil where !hasExponent:
            guard let value = Int64(characters(from: start)) else { throw syntax("number out of range") }
            return .integer(value)
        case let fraction? where !hasExponent && whole.count + fraction.count <= Self.maxPlainRealDigits:
            // Both are integers below 2^53, so their quotient is the double nearest to the number
            // (Clinger, 1990).
            let scale = Self.powersOfTen[fraction.count]
            let value = (Double(whole.value) * scale + Double(fraction.value)) / scale
            return .real(isNegative ? -value : value)
        default:
            guard let value = Double(characters(from: start)), value.isFinite else {
                throw syntax("number out of range")
            }
            return .real(value)
        }
    }

    private func characters(from start: Int) -> String {
        String(decoding: text[start..<position], as: UTF8.self)
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < text.count, text[position] == byte else { return false }
        position += 1
        return true
    }

    /// Reads at least one digit. The value is meaningless above 18 digits.
    private mutating func digits() throws(JSONError) -> (value: Int64, count: Int) {
        let start = position
        var value: Int64 = 0
        while position < text.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = text[position] {
            value = value &* 10 &+ Int64(text[position] - UInt8(ascii: "0"))
            position += 1
        }
        guard position > start else { throw unexpected(next()) }
        return (value, position - start)
    }
}
