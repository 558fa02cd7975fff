import HandoffDocuments
import HandoffJSON
import HandoffModel

/// The members of a `userInfo`, each key once, in the order in which they came.
struct UserInfoMembers: Sendable {
    private(set) var pairs: [(key: UserInfoValue, value: UserInfoValue)] = []
    private var places: [UserInfoValue: Int] = [:]

    /// No members.
    init() {}

    /// Of several members with one key the last.
    init(_ pairs: [(key: UserInfoValue, value: UserInfoValue)]) {
        for (key, value) in pairs { set(value, for: key) }
    }

    /// Reads the tagged form.
    /// - Throws: `invalid` with the path of what is wrong.
    init(tagged: JSONObject) throws(ActivityError) {
        try UserInfo.validate(tagged)
        guard case .dictionary(let pairs) = try UserInfoValue(tagged: .object(tagged)) else {
            throw .invalid(field: "userInfo", message: "userInfo must be a dictionary")
        }
        self.init(pairs)
    }

    /// The value of a key; nil when there is none.
    subscript(_ key: UserInfoValue) -> UserInfoValue? {
        places[key].map { pairs[$0].value }
    }

    /// Replaces a member, or adds one.
    mutating func set(_ value: UserInfoValue, for key: UserInfoValue) {
        if let place = places[key] {
            pairs[place].value = value
        } else {
            places[key] = pairs.count
            pairs.append((key, value))
        }
    }

    /// Takes the members of some keys away.
    mutating func remove(_ keys: [UserInfoValue]) {
        let keys = Set(keys)
        guard !keys.isEmpty else { return }
        self = UserInfoMembers(pairs.filter { !keys.contains($0.key) })
    }

    /// Adds the members of another one, whose values win.
    mutating func merge(_ others: UserInfoMembers) {
        for (key, value) in others.pairs { set(value, for: key) }
    }

    /// All of it as one value.
    var value: UserInfoValue { .dictionary(pairs) }

    /// Whether there is the URL of a file in it.
    var namesFiles: Bool {
        var names = false
        value.forEachURL { text in names = names || FileURL(text) != nil }
        return names
    }

    /// The URLs in it of documents that another device has named.
    var documentURLs: Set<String> {
        var urls: Set<String> = []
        value.forEachURL { text in if DocumentURL(text) != nil { urls.insert(text) } }
        return urls
    }

    /// The same with other URLs in the places of some.
    func replacingURLs(_ places: [String: String]) -> UserInfoMembers {
        guard !places.isEmpty, case .dictionary(let pairs) = value.replacingURLs({ places[$0] }) else { return self }
        return UserInfoMembers(pairs)
    }

    /// The same with the names of files in the places of `file:` URLs. The path of another device means nothing here: it would lead
    /// to a file that the other device has chosen, and that this one would offer in its turn.
    var withoutPaths: UserInfoMembers {
        guard namesFiles, case .dictionary(let pairs) = value.withoutLocalPaths else { return self }
        return UserInfoMembers(pairs)
    }

    /// The tagged form, as it travels.
    var tagged: JSONObject {
        guard case .object(let object) = UserInfoValue.dictionary(pairs).tagged() else { return [:] }
        return object
    }
}
