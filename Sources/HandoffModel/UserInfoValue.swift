import HandoffJSON

/// A value of `userInfo`: exactly the property list types, NSNull, NSSet, NSURL and NSUUID, as
/// Apple allows.
///
/// `tagged()` and `init(tagged:)` are exact inverses, and preserve the bit patterns of doubles
/// other than NaN.
package indirect enum UserInfoValue: Sendable {
    /// NSNull.
    case null
    /// A Boolean NSNumber.
    case bool(Bool)
    /// An integer NSNumber.
    case integer(Int64)
    /// An integer NSNumber above `Int64.max`. A smaller one is read back as `integer`.
    case unsigned(UInt64)
    /// A floating-point NSNumber, even with an integral value. Every NaN is read back as the quiet
    /// NaN.
    case double(Double)
    /// NSString.
    case string(String)
    /// NSData.
    case data([UInt8])
    /// NSDate: finite seconds since 2001-01-01 UTC.
    case date(Double)
    /// NSURL: its absolute string.
    case url(String)
    /// NSUUID: 16 bytes.
    case uuid([UInt8])
    /// NSArray.
    case array([UserInfoValue])
    /// NSSet: each element once, in any order.
    case set([UserInfoValue])
    /// NSDictionary: each key once, in any order; keys need not be strings.
    case dictionary([(key: UserInfoValue, value: UserInfoValue)])
}

extension UserInfoValue: Hashable {
    /// Compares values exactly: strings as bytes, doubles as bit patterns (all NaNs are equal),
    /// sets and dictionaries in any order.
    package static func == (left: UserInfoValue, right: UserInfoValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.double(let left), .double(let right)): pattern(left) == pattern(right)
        case (.date(let left), .date(let right)): pattern(left) == pattern(right)
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.url(let left), .url(let right)): left.hasSameBytes(as: right)
        case (.data(let left), .data(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.set(let left), .set(let right)): left.count == right.count && Set(left) == Set(right)
        case (.dictionary(let left), .dictionary(let right)):
            left.count == right.count && lookup(left) == lookup(right)
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        switch self {
        case .null: break
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .double(let value), .date(let value): hasher.combine(Self.pattern(value))
        case .string(let value), .url(let value): value.hashBytes(into: &hasher)
        case .data(let value), .uuid(let value): hasher.combine(value)
        case .array(let elements): hasher.combine(elements)
        case .set(let elements): hasher.combine(Set(elements))
        case .dictionary(let members): hasher.combine(Self.lookup(members))
        }
    }

    private var rank: UInt8 {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer: 2
        case .unsigned: 3
        case .double: 4
        case .string: 5
        case .data: 6
        case .date: 7
        case .url: 8
        case .uuid: 9
        case .array: 10
        case .set: 11
        case .dictionary: 12
        }
    }

    private static func pattern(_ value: Double) -> UInt64 {
        value.isNaN ? Double.nan.bitPattern : value.bitPattern
    }

    private static func lookup(_ members: [(key: UserInfoValue, value: UserInfoValue)]) -> [UserInfoValue:
        UserInfoValue]
    {
        Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }
    }
}
