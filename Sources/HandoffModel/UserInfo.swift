package import HandoffJSON

/// Validates the tagged form of `userInfo` without building its values. The daemons forward it
/// unchanged.
package enum UserInfo {
    /// Validates a whole `userInfo`: a dictionary in the tagged form, either a plain object or one
    /// with `$dict`.
    ///
    /// Throws `invalid` with the path of the error, such as `userInfo.photo.$data`.
    package static func validate(_ object: JSONObject) throws(ActivityError) {
        if object.count == 1, let (key, _) = object.first, UserInfoTag.isTagLike(key), UserInfoTag(key: key) != .dict {
            throw .invalid(field: "userInfo.\(VisibleText.escape(key))", message: "userInfo must be a dictionary")
        }
        try validate(value: .object(object))
        guard count(.object(object)) <= Limits.userInfoValues else {
            throw .invalid(field: "userInfo", message: "more than \(Limits.userInfoValues) values in total")
        }
    }

    /// Counts the opening brackets and the commas of a value, as the scan before the parser does.
    private static func count(_ value: JSON) -> Int {
        switch value {
        case .null, .bool, .integer, .real, .string: 0
        case .array(let elements): elements.reduce(max(elements.count, 1)) { $0 + count($1) }
        case .object(let members): members.reduce(max(members.count, 1)) { $0 + count($1.value) }
        }
    }

    /// Returns whether a value in the tagged form contains a `file:` URL at any depth.
    package static func hasFileURL(_ value: JSON) -> Bool { hasURL(value, scheme: "file:") }

    /// Returns whether a value in the tagged form contains a URL of a scheme at any depth.
    ///
    /// - Parameter scheme: In lower case, with its colon.
    package static func hasURL(_ value: JSON, scheme: String) -> Bool {
        switch value {
        case .object(let object):
            object[UserInfoTag.url.rawValue]?.string.map { isURL($0, scheme) } == true
                || object.contains { hasURL($0.value, scheme: scheme) }
        case .array(let elements): elements.contains { hasURL($0, scheme: scheme) }
        case .null, .bool, .integer, .real, .string: false
        }
    }

    /// Compares bytes, because the character after the colon may combine with it.
    private static func isURL(_ text: String, _ scheme: String) -> Bool {
        String(decoding: text.utf8.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme
    }

    /// Validates one value in the tagged form, of any type.
    package static func validate(value: JSON) throws(ActivityError) {
        do throws(Problem) {
            try check(value, depth: 1, jsonDepth: 1)
        } catch {
            let path = (["userInfo"] + error.path.reversed().map(VisibleText.escape)).joined(separator: ".")
            throw .invalid(field: path, message: error.message)
        }
    }

    /// A rule violation. The path is built from the inside out, so that valid values cost nothing.
    private struct Problem: Error {
        var path: [String] = []
        let message: String

        func inside(_ step: String) -> Problem {
            Problem(path: path + [step], message: message)
        }
    }

    /// Checks a value. `depth` and `jsonDepth` are the nesting levels that a container at this
    /// position would have.
    private static func check(_ value: JSON, depth: Int, jsonDepth: Int) throws(Problem) {
        switch value {
        case .null, .bool, .integer, .string: break
        case .real(let number):
            guard number.isFinite else { throw Problem(message: "not a finite number: use $double") }
        case .array(let elements):
            try check(elements, depth: depth, jsonDepth: jsonDepth)
        case .object(let object):
            if object.count == 1, let (key, value) = object.first, UserInfoTag.isTagLike(key) {
                do throws(Problem) {
                    try check(tag: key, value, depth: depth, jsonDepth: jsonDepth)
                } catch {
                    throw error.inside(key)
                }
                return
            }
            try checkLevel(depth: depth, jsonDepth: jsonDepth, members: object.count)
            for (key, value) in object {
                do throws(Problem) {
                    guard !key.utf8.contains(0) else { throw Problem(message: "a NUL in a key needs $dict") }
                    try check(value, depth: depth + 1, jsonDepth: jsonDepth + 1)
                } catch {
                    throw error.inside(key)
                }
            }
        }
    }

    private static func check(_ elements: [JSON], depth: Int, jsonDepth: Int) throws(Problem) {
        try checkLevel(depth: depth, jsonDepth: jsonDepth, members: elements.count)
        for (position, element) in elements.enumerated() {
            do throws(Problem) {
                try check(element, depth: depth + 1, jsonDepth: jsonDepth + 1)
            } catch {
                throw error.inside(position.description)
            }
        }
    }

    private static func checkLevel(depth: Int, jsonDepth: Int, members: Int) throws(Problem) {
        guard depth <= Limits.userInfoDepth else {
            throw Problem(message: "nested to more than \(Limits.userInfoDepth) levels")
        }
        guard jsonDepth <= Limits.userInfoJSONDepth else {
            throw Problem(message: "nested to more than \(Limits.userInfoJSONDepth) levels of JSON")
        }
        guard members <= Limits.userInfoMembers else {
            throw Problem(message: "more than \(Limits.userInfoMembers) members")
        }
    }

    private static func check(tag key: String, _ value: JSON, depth: Int, jsonDepth: Int) throws(Problem) {
        switch (UserInfoTag(key: key), value) {
        case (.data, .string(let text)):
            guard Base64.isValid(text) else { throw Problem(message: "not base 64 with padding") }
        case (.date, .integer), (.url, .string), (.double, .integer), (.double, .string("nan")),
            (.double, .string("inf")), (.double, .string("-inf")):
            break
        case (.date, .real(let number)), (.double, .real(let number)):
            guard number.isFinite else { throw Problem(message: "not a finite number") }
        case (.uuid, .string(let text)):
            guard UUIDText.decode(text) != nil else { throw Problem(message: "not a UUID") }
        case (.uint, .string(let text)):
            guard let number = UInt64(text), number > UInt64(Int64.max), number.description.hasSameBytes(as: text)
            else {
                throw Problem(message: "not an integer between 2^63 and 2^64 - 1")
            }
        case (.set, .array(let elements)):
            try check(elements, depth: depth, jsonDepth: jsonDepth + 1)
            guard Set(elements).count == elements.count else {
                throw Problem(message: "an element of a set occurs twice")
            }
        case (.dict, .array(let pairs)):
            try check(pairs: pairs, depth: depth, jsonDepth: jsonDepth)
        case (.none, _):
            throw Problem(message: "unknown type")
        case (.some, _):
            throw Problem(message: "not a value of this type")
        }
    }

    /// Checks a dictionary written as pairs. It takes three levels of JSON: the object, the list,
    /// and the pair.
    private static func check(pairs: [JSON], depth: Int, jsonDepth: Int) throws(Problem) {
        try checkLevel(depth: depth, jsonDepth: jsonDepth + 2, members: pairs.count)
        var keys = Set<JSON>(minimumCapacity: pairs.count)
        for (position, pair) in pairs.enumerated() {
            do throws(Problem) {
                guard case .array(let pair) = pair, pair.count == 2 else {
                    throw Problem(message: "not a pair of key and value")
                }
                try check(pair[0], depth: depth + 1, jsonDepth: jsonDepth + 3)
                try check(pair[1], depth: depth + 1, jsonDepth: jsonDepth + 3)
                guard keys.insert(pair[0]).inserted else { throw Problem(message: "a key occurs twice") }
            } catch {
                throw error.inside(position.description)
            }
        }
    }
}
