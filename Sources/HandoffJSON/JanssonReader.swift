private import CJansson

/// Parses a scanned document with jansson and copies the result into `JSON` values.
struct JanssonReader {
    private let scan: JSONScan
    /// The index of the first cut that has not been restored yet.
    private var nextCut = 0
    /// The number of string values copied so far. Jansson keeps document order.
    private var stringValues = 0

    init(_ scan: JSONScan) {
        self.scan = scan
    }

    /// Parses the document, or its reduced form.
    mutating func read(_ text: UnsafeBufferPointer<UInt8>) throws(JSONError) -> JSON {
        guard let base = text.baseAddress, !text.isEmpty else {
            throw .syntax(message: "empty text", position: 0)
        }
        let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL
        var error = json_error_t()
        let root = base.withMemoryRebound(to: CChar.self, capacity: text.count) { characters in
            json_loadb(characters, text.count, Int(flags), &error)
        }
        guard let root else {
            let code = UInt32(bitPattern: cjansson_error_code(&error))
            throw .syntax(
                message: Self.message(forCode: code, isHalfSurrogate: cjansson_is_half_surrogate(&error) == 1),
                position: scan.originalPosition(Int(error.position)))
        }
        defer { json_decref(root) }
        return try copy(root)
    }

    /// Copies one value. The scan has limited the depth.
    private mutating func copy(_ value: UnsafeMutablePointer<json_t>) throws(JSONError) -> JSON {
        switch json_type(UInt32(bitPattern: cjansson_type(value))) {
        case JSON_OBJECT:
            var members: [JSONObject.Element] = []
            members.reserveCapacity(json_object_size(value))
            var iterator = json_object_iter(value)
            while let current = iterator, let member = json_object_iter_value(current) {
                let key = try Self.text(json_object_iter_key(current), count: json_object_iter_key_len(current))
                members.append((key, try copy(member)))
                iterator = json_object_iter_next(value, current)
            }
            return .object(JSONObject(distinct: members))
        case JSON_ARRAY:
            let count = json_array_size(value)
            var elements: [JSON] = []
            elements.reserveCapacity(count)
            for position in 0..<count {
                guard let element = json_array_get(value, position) else { continue }
                elements.append(try copy(element))
            }
            return .array(elements)
        case JSON_STRING:
            return .string(try copyString(value))
        case JSON_INTEGER:
            return .integer(json_integer_value(value))
        case JSON_REAL:
            return .real(json_real_value(value))
        case JSON_TRUE:
            return .bool(true)
        case JSON_FALSE:
            return .bool(false)
        default:
            return .null
        }
    }

    private mutating func copyString(_ value: UnsafeMutablePointer<json_t>) throws(JSONError) -> String {
        defer { stringValues += 1 }
        if nextCut < scan.cuts.count, scan.cuts[nextCut].ordinal == stringValues {
            defer { nextCut += 1 }
            return scan.cuts[nextCut].text
        }
        return try Self.text(json_string_value(value), count: json_string_length(value))
    }

    private static func text(_ characters: UnsafePointer<CChar>?, count: Int) throws(JSONError) -> String {
        guard let characters, count > 0 else { return "" }
        // Jansson has checked the encoding. Check it again, because a repaired string would be a
        // different key.
        let text = characters.withMemoryRebound(to: UInt8.self, capacity: count) {
            String(utf8: UnsafeBufferPointer(start: $0, count: count))
        }
        guard let text else { throw .syntax(message: "invalid UTF-8", position: 0) }
        return text
    }

    /// Returns the message for an `enum json_error_code`. Jansson's own messages quote the
    /// document, which may be private.
    private static func message(forCode code: UInt32, isHalfSurrogate: Bool) -> String {
        switch code {
        case _ where isHalfSurrogate: "half of a surrogate pair in a string"
        case json_error_out_of_memory.rawValue: "out of memory"
        case json_error_stack_overflow.rawValue: "nested too deep"
        case json_error_invalid_utf8.rawValue: "invalid UTF-8"
        case json_error_premature_end_of_input.rawValue: "unexpected end"
        case json_error_end_of_input_expected.rawValue: "bytes after the end"
        case json_error_null_character.rawValue, json_error_null_byte_in_key.rawValue: "NUL in a key"
        case json_error_duplicate_key.rawValue: "duplicate key"
        case json_error_numeric_overflow.rawValue: "number out of range"
        default: "invalid syntax"
        }
    }
}
