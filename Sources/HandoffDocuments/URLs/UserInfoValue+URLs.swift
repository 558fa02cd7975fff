import HandoffJSON
package import HandoffModel

// URLs at any depth of a `userInfo`, including in keys.
extension UserInfoValue {
    /// Calls `body` with the text of each contained URL.
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

    /// Returns the value with replaced URLs. Elements of a set that become equal are merged. Of
    /// equal keys of a dictionary, the last member is kept.
    /// - Parameter change: returns the replacement for the text of a URL, or nil to keep it.
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

    /// The value with `file:` URLs replaced by file names. A path is meaningless on another device,
    /// and reveals the names of folders and users on this one.
    package var withoutLocalPaths: UserInfoValue {
        replacingURLs { text in
            FileURL(text).map { DocumentURL.nowhere($0.name, isFolder: $0.isFolder, fragment: nil).text }
        }
    }
}

extension ActivityContent {
    /// The URLs of documents in the activity: the first ones, each once. Content without any, which is
    /// nearly all, is not converted.
    package func documents(limit: Int) -> [String] {
        let tagged = JSON.object(userInfo)
        guard UserInfo.hasURL(tagged, scheme: DocumentURL.prefix), let value = try? UserInfoValue(tagged: tagged) else {
            return []
        }
        var documents: [String] = []
        value.forEachURL { text in
            guard documents.count < limit, DocumentURL(text) != nil, !documents.contains(text) else { return }
            documents.append(text)
        }
        return documents
    }

    /// The content to be sent to another device, see ``UserInfoValue/withoutLocalPaths``. Content
    /// without `file:` URLs, which is nearly all, is returned unchanged.
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
