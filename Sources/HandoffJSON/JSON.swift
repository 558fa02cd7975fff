/// A JSON value that keeps integers and reals apart.
///
/// Equality is exact: strings are compared as UTF-8 bytes (`String ==` would make composed and decomposed forms equal),
/// reals by their bit pattern (so `-0.0` differs from `0.0`), and an integer never equals a real.
package enum JSON: Sendable {
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case bool(Bool)
    /// A number written without fraction and exponent.
    case integer(Int64)
    /// A number written with a fraction or an exponent.
    case real(Double)
    /// A text; it may hold NUL.
    case string(String)
    /// Values in order.
    case array([JSON])
    /// Members in the order in which they were written.
    case object(JSONObject)
}

extension JSON: Hashable {
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.bool, _), (.integer, _), (.real, _), (.string, _), (.array, _), (.object, _): false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value.bitPattern)
        case .string(let value): value.hashBytes(into: &hasher)
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

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

// Values are written in the source as Swift literals, so that fixed messages read like JSON.

extension JSON: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) {
        self = .null
    }
}

extension JSON: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}

extension JSON: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension JSON: ExpressibleByFloatLiteral {
    package init(floatLiteral value: Double) {
        self = .real(value)
    }
}

extension JSON: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension JSON: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: JSON...) {
        self = .array(elements)
    }
}

extension JSON: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(elements))
    }
}
