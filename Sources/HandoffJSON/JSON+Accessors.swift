extension JSON {
    /// Whether this is `null`.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The Boolean, or nil when this is something else.
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, or nil when this is something else; a real of integral value is something else.
    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The real, or nil when this is something else; an integer is something else.
    package var real: Double? {
        if case .real(let value) = self { value } else { nil }
    }

    /// The number, whether it was written as an integer or as a real; integers beyond 2^53 are rounded.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The text, or nil when this is something else.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements, or nil when this is something else.
    package var array: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The object, or nil when this is something else.
    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}
