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
