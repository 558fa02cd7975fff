import HandoffJSON
package import HandoffModel

// URLs at any depth of a `userInfo`, in keys as well.
extension UserInfoValue {
    /// Calls something with the text of each URL inside.
    package func forEachURL(_ body: (String) -> Void) {
        switch self {
        case .null, .bool, .integer, .unsigned, .double, .string, .data, .date, .uuid: break
        case .url(let text): body(text)
        case .array(let elements), .set(let elements): for element in elements { element.forEachURL(body) }
        case .dictionary(let pairs):
            for (key, value) in pairs {
                key.forEachURL(body)
                value.forEachURL(body)
            }
        }
    }

    /// The same value with other URLs. What becomes equal by that is there once: of a set's elements, and of a dictionary's
    /// members the last.
    /// - Parameter change: gets the text of a URL, and gives what takes its place; nil leaves it.
    package func replacingURLs(_ change: (String) -> String?) -> UserInfoValue {
        switch self {
        case .null, .bool, .integer, .unsigned, .double, .string, .data, .date, .uuid: return self
        case .url(let text): return change(text).map(UserInfoValue.url) ?? self
        case .array(let elements): return .array(elements.map { $0.replacingURLs(change) })
        case .set(let elements):
            var seen: Set<UserInfoValue> = []
            return .set(elements.map { $0.replacingURLs(change) }.filter { seen.insert($0).inserted })
        case .dictionary(let pairs):
            var places: [UserInfoValue: Int] = [:]
            var changed: [(key: UserInfoValue, value: UserInfoValue)] = []
            for (key, value) in pairs {
                let member = (key: key.replacingURLs(change), value: value.replacingURLs(change))
                if let place = places[member.key] {
                    changed[place] = member
                } else {
                    places[member.key] = changed.count
                    changed.append(member)
                }
            }
            return .dictionary(changed)
        }
    }

    /// The same value with the names of files in place of `file:` URLs. A path means nothing on another device, and shows how folders
    /// and users are called on this one.
    package var withoutLocalPaths: UserInfoValue {
        replacingURLs { text in
            FileURL(text).map { DocumentURL.nowhere($0.name, isFolder: $0.isFolder, fragment: nil).text }
        }
    }
}

extension ActivityContent {
    /// The same content for another device: see ``UserInfoValue/withoutLocalPaths``. Nearly all content has no `file:` URL and is
    /// returned as it is.
    package var withoutLocalPaths: ActivityContent {
        let tagged = JSON.object(userInfo)
        guard UserInfo.hasFileURL(tagged), let value = try? UserInfoValue(tagged: tagged),
            case .object(let object) = value.withoutLocalPaths.tagged()
        else { return self }
        var content = self
        content.userInfo = object
        return content
    }
}
