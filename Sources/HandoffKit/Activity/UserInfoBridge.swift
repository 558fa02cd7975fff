import Foundation
package import HandoffJSON
package import HandoffModel

/// Converts between the Foundation values that `userInfo` may hold and the values that are sent.
/// Numbers keep their kind.
///
/// The results are those of Apple's class: every number is an `NSNumber`, which `as? Int`,
/// `as? Double` and `as? Bool` read; other values are Swift's own types. Elements and keys that
/// Swift cannot hash become `NSArray` and `NSDictionary`. Numbers that are keys or elements of sets
/// become Swift's own types, because on Linux the hash of an `NSNumber` differs from that of the
/// number used to look it up.
enum UserInfoBridge {
    /// Deeper nesting is refused, before the stack overflows. The limit for sending is lower
    /// (`Limits.userInfoDepth`).
    private static let maxDepth = 64

    /// Converts a whole `userInfo`.
    /// - Throws: `invalid`, with the path of a value whose type cannot be handed off.
    static func members(of dictionary: [AnyHashable: Any]) throws(ActivityError) -> UserInfoMembers {
        try members(of: dictionary, path: "userInfo", depth: 1)
    }

    /// Returns a whole `userInfo` in the form that the app reads.
    static func dictionary(_ members: UserInfoMembers) -> [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [:]
        dictionary.reserveCapacity(members.pairs.count)
        for (key, value) in members.pairs { dictionary[hashable(key)] = any(value) }
        return dictionary
    }

    private static func members(
        of dictionary: [AnyHashable: Any], path: String, depth: Int
    ) throws(ActivityError) -> UserInfoMembers {
        var members = UserInfoMembers()
        for (key, any) in dictionary {
            let name = "\(path).\(VisibleText.escape("\(key.base)"))"
            let value = try value(of: any, path: name, depth: depth + 1)
            members.set(value, for: try Self.value(of: key.base, path: path, depth: depth + 1))
        }
        return members
    }

    /// - Throws: `invalid` with the path.
    private static func value(of any: Any, path: String, depth: Int) throws(ActivityError) -> UserInfoValue {
        guard depth <= maxDepth else {
            throw .invalid(field: path, message: "nested to more than \(maxDepth) levels")
        }
        switch any {
        case is NSNull: return .null
        // Swift's own numbers are bridged; `objCType` reports their kind as well.
        case let number as NSNumber: return value(of: number)
        case let number as CGFloat: return .double(Double(number))
        case let text as String: return .string(text)
        case let data as Data: return .data(Array(data))
        case let date as Date: return .date(date.timeIntervalSinceReferenceDate)
        case let url as URL: return .url(url.absoluteString)
        case let uuid as UUID: return .uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) })
        case let elements as [Any]: return .array(try values(of: elements, path: path, depth: depth))
        case let elements as Set<AnyHashable>:
            return .set(try values(of: elements.map(\.base), path: path, depth: depth))
        case let dictionary as [AnyHashable: Any]:
            return .dictionary(try members(of: dictionary, path: path, depth: depth).pairs)
        default:
            // An empty optional, which Apple's systems bridge to NSNull. The cases above match an
            // optional with a value.
            let mirror = Mirror(reflecting: any)
            if mirror.displayStyle == .optional, mirror.children.isEmpty { return .null }
            throw .invalid(
                field: path,
                message: "a \(type(of: any)) cannot be handed off: use String, numbers, Bool, Data, Date, URL, UUID, "
                    + "NSNull, and arrays, dictionaries and sets of these")
        }
    }

    private static func values(
        of elements: [Any], path: String, depth: Int
    ) throws(ActivityError) -> [UserInfoValue] {
        var values: [UserInfoValue] = []
        values.reserveCapacity(elements.count)
        for (position, element) in elements.enumerated() {
            values.append(try value(of: element, path: "\(path).\(position)", depth: depth + 1))
        }
        return values
    }

    private static func value(of number: NSNumber) -> UserInfoValue {
        switch String(cString: number.objCType) {
        case "c", "B": isBoolean(number) ? .bool(number.boolValue) : .integer(number.int64Value)
        case "d", "f": .double(number.doubleValue)
        case "Q": Int64(exactly: number.uint64Value).map(UserInfoValue.integer) ?? .unsigned(number.uint64Value)
        default: .integer(number.int64Value)
        }
    }

    /// Returns whether a number is a Boolean. Booleans have their own class, but share their
    /// `objCType` with negative `Int8` values.
    private static func isBoolean(_ number: NSNumber) -> Bool {
        type(of: number) == type(of: NSNumber(value: true))
    }

    private static func any(_ value: UserInfoValue) -> Any {
        switch value {
        case .null: NSNull()
        case .bool(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .unsigned(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .string(let value): value
        case .data(let value): Data(value)
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        // Another system may accept a URL that Foundation does not: then the app receives its text.
        case .url(let value): URL(string: value) ?? value
        case .uuid(let value): uuid(value) ?? NSNull()
        case .array(let elements): elements.map(any)
        case .set(let elements): Set(elements.map(hashable))
        case .dictionary(let pairs): dictionary(UserInfoMembers(pairs))
        }
    }

    private static func hashable(_ value: UserInfoValue) -> AnyHashable {
        switch value {
        case .bool(let value): value
        case .integer(let value): Int(value)
        case .unsigned(let value): value
        case .double(let value): value
        case .array(let elements): NSArray(array: elements.map(any))
        case .dictionary(let pairs): NSDictionary(dictionary: dictionary(UserInfoMembers(pairs)))
        default: any(value) as? AnyHashable ?? AnyHashable(NSNull())
        }
    }

    private static func uuid(_ bytes: [UInt8]) -> UUID? {
        guard bytes.count == 16 else { return nil }
        var uuid = UUID().uuid
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
        return UUID(uuid: uuid)
    }
}

extension NSUserActivity {
    /// Returns the tagged form of a `userInfo`, as it is sent.
    package static func taggedUserInfo(_ userInfo: [AnyHashable: Any]) throws(ActivityError) -> JSONObject {
        try UserInfoBridge.members(of: userInfo).tagged
    }

    /// Returns the `userInfo` of a tagged form, as an app reads it.
    package static func userInfo(tagged: JSONObject) throws(ActivityError) -> [AnyHashable: Any] {
        UserInfoBridge.dictionary(try UserInfoMembers(tagged: tagged))
    }
}
