private import CJansson
package import HandoffJSON

/// Parses JSON with Jansson, by the rules of `JSON.init(parsing:limits:)`. An independent parser for
/// comparison with the project's own one.
package enum JanssonOracle {
    /// Returns the value, or nil if the text is invalid or exceeds a limit.
    package static func parse(_ text: [UInt8], limits: JSONLimits) -> JSON? {
        // Jansson ignores a NUL after a number or a literal.
        guard text.count <= limits.bytes, !text.isEmpty, !text.contains(0) else { return nil }
        let root = text.withUnsafeBytes { bytes in
            json_loadb(
                bytes.baseAddress, bytes.count, Int(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL), nil)
        }
        guard let root else { return nil }
        defer { json_decref(root) }
        var values = 1
        return copy(root, limits: limits, depth: limits.depth, values: &values)
    }

    /// Copies one value.
    /// - Parameter depth: The number of levels that it may have.
    /// - Parameter values: The number of values so far, as `JSONLimits` counts them.
    private static func copy(
        _ value: UnsafeMutablePointer<json_t>, limits: JSONLimits, depth: Int, values: inout Int
    ) -> JSON? {
        switch json_type(UInt32(bitPattern: cjansson_type(value))) {
        case JSON_OBJECT:
            let count = json_object_size(value)
            values += max(1, count)
            guard depth > 0, count <= limits.members, values <= limits.values else { return nil }
            var members: [JSONObject.Element] = []
            var iterator = json_object_iter(value)
            while let current = iterator, let member = json_object_iter_value(current) {
                guard let copied = copy(member, limits: limits, depth: depth - 1, values: &values) else { return nil }
                members.append(
                    (text(json_object_iter_key(current), count: json_object_iter_key_len(current)), copied))
                iterator = json_object_iter_next(value, current)
            }
            return .object(JSONObject(distinct: members))
        case JSON_ARRAY:
            let count = json_array_size(value)
            values += max(1, count)
            guard depth > 0, count <= limits.members, values <= limits.values else { return nil }
            var elements: [JSON] = []
            for position in 0..<count {
                guard let element = json_array_get(value, position),
                    let copied = copy(element, limits: limits, depth: depth - 1, values: &values)
                else { return nil }
                elements.append(copied)
            }
            return .array(elements)
        case JSON_STRING: return .string(text(json_string_value(value), count: json_string_length(value)))
        case JSON_INTEGER: return .integer(json_integer_value(value))
        case JSON_REAL: return .real(json_real_value(value))
        case JSON_TRUE: return .bool(true)
        case JSON_FALSE: return .bool(false)
        default: return .null
        }
    }

    /// A string of Jansson, which is valid UTF-8.
    private static func text(_ characters: UnsafePointer<CChar>?, count: Int) -> String {
        let bytes = UnsafeRawBufferPointer(start: characters, count: count)
        return String(decoding: bytes, as: UTF8.self)
    }
}
