/// A value of `userInfo`: exactly the property list types, NSNull, NSSet, NSURL and NSUUID that Apple allows.
///
/// `tagged()` and `init(tagged:)` are exact inverses, bit patterns of doubles other than NaN included.
package indirect enum UserInfoValue: Sendable {
    /// NSNull.
    case null
    /// A Boolean NSNumber.
    case bool(Bool)
    /// An integer NSNumber.
    case integer(Int64)
    /// An integer NSNumber above `Int64.max`; a smaller one comes back as `integer`.
    case unsigned(UInt64)
    /// A floating point NSNumber, also when its value is integral; every NaN comes back as the quiet one.
    case double(Double)
    /// NSString.
    case string(String)
    /// NSData.
    case data([UInt8])
    /// NSDate: finite seconds since 2001-01-01 UTC.
    case date(Double)
    /// NSURL: its absolute text.
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
