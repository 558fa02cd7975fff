import Foundation
package import HandoffJSON
package import HandoffModel

/// Between the values of Foundation that `userInfo` may hold and those that travel; numbers keep their kind.
///
/// What comes back is what Apple's class gives: every number is an `NSNumber`, which `as? Int`, `as? Double` and `as? Bool`
/// read, the others are Swift's own types. Elements and keys that Swift cannot hash come back as `NSArray` and
/// `NSDictionary`. Numbers that are keys or elements of sets come back as Swift's own: on Linux an `NSNumber` has another hash than
/// the number, by which one looks for it.
enum UserInfoBridge {
    /// Deeper nesting is refused here, before the stack could end; what may travel is less (`Limits.userInfoDepth`).
    private static let maxDepth = 64

    /// The members of a whole `userInfo`.
    /// - Throws: `invalid`, with the path of the value that is of no type that may travel.
    static func members(of dictionary: [AnyHashable: Any]) throws(ActivityError) -> UserInfoMembers {
        try members(of: dictionary, path: "userInfo", depth: 1)
    }

    /// A whole `userInfo` as the app reads it.
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
        // Swift's own numbers are bridged, and tell their kind by the type of their number, too.
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
            // An optional without a value, which Apple's systems bridge to NSNull; those with one were found above.
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

    /// Whether it is a Boolean: these are of a class of their own, while their `objCType` is that of a negative `Int8`, too.
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
        // Another system may call a URL what Foundation does not: then the app gets its text.
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
    /// The tagged form of a `userInfo`, as it travels.
    package static func taggedUserInfo(_ userInfo: [AnyHashable: Any]) throws(ActivityError) -> JSONObject {
        try UserInfoBridge.members(of: userInfo).tagged
    }

    /// The `userInfo` of a tagged form, as an app reads it.
    package static func userInfo(tagged: JSONObject) throws(ActivityError) -> [AnyHashable: Any] {
        UserInfoBridge.dictionary(try UserInfoMembers(tagged: tagged))
    }
}
