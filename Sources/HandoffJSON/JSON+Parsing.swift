private import CJansson

extension JSON {
    /// Parses a text: RFC 8259, strict UTF-8, any value at the top.
    ///
    /// Refused beyond that: a key that occurs twice in an object, a NUL in a key (in strings it is kept), integers
    /// beyond 64 bits, reals beyond the range of `Double`, and whatever exceeds the limits.
    package init(parsing bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            try JSON.parse(text, limits: limits)
        }
    }

    /// Parses a part of an array, such as a message inside a receive buffer, without copying it.
    package init(parsing bytes: ArraySlice<UInt8>, limits: JSONLimits) throws(JSONError) {
        self = try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            try JSON.parse(text, limits: limits)
        }
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) throws(JSONError) -> JSON {
        try JSONScan.check(text, limits: limits)
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
            throw .syntax(message: message(forCode: code), position: Int(error.position))
        }
        defer { json_decref(root) }
        return try convert(root)
    }

    /// Copies a value of jansson's into ours. The depth was bounded by the scan.
    private static func convert(_ value: UnsafeMutablePointer<json_t>) throws(JSONError) -> JSON {
        switch json_type(UInt32(bitPattern: cjansson_type(value))) {
        case JSON_OBJECT:
            var members: [JSONObject.Element] = []
            members.reserveCapacity(json_object_size(value))
            var iterator = json_object_iter(value)
            while let current = iterator, let member = json_object_iter_value(current) {
                let key = try text(json_object_iter_key(current), count: json_object_iter_key_len(current))
                members.append((key, try convert(member)))
                iterator = json_object_iter_next(value, current)
            }
            return .object(JSONObject(distinct: members))
        case JSON_ARRAY:
            let count = json_array_size(value)
            var elements: [JSON] = []
            elements.reserveCapacity(count)
            for position in 0..<count {
                guard let element = json_array_get(value, position) else { continue }
                elements.append(try convert(element))
            }
            return .array(elements)
        case JSON_STRING:
            return .string(try text(json_string_value(value), count: json_string_length(value)))
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

    private static func text(_ characters: UnsafePointer<CChar>?, count: Int) throws(JSONError) -> String {
        let raw = UnsafeRawBufferPointer(start: characters, count: characters == nil ? 0 : count)
        // jansson has checked the encoding; checked again, since a repaired string would be a different key.
        guard let text = String(validating: raw, as: UTF8.self) else {
            throw .syntax(message: "invalid UTF-8", position: 0)
        }
        return text
    }

    /// Words for `enum json_error_code`; jansson's own would quote the text, which may be private.
    private static func message(forCode code: UInt32) -> String {
        switch code {
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
