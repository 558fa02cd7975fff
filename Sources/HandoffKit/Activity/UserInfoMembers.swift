import HandoffDocuments
import HandoffJSON
import HandoffModel

/// The members of a `userInfo`, in insertion order, with unique keys.
struct UserInfoMembers: Sendable {
    private(set) var pairs: [(key: UserInfoValue, value: UserInfoValue)] = []
    private var places: [UserInfoValue: Int] = [:]

    init() {}

    /// Creates a list from members. If a key occurs more than once, its last value is used.
    init(_ pairs: [(key: UserInfoValue, value: UserInfoValue)]) {
        for (key, value) in pairs { set(value, for: key) }
    }

    /// Reads the tagged form.
    /// - Throws: `invalid` with the path of the invalid value.
    init(tagged: JSONObject) throws(ActivityError) {
        try UserInfo.validate(tagged)
        guard case .dictionary(let pairs) = try UserInfoValue(tagged: .object(tagged)) else {
            throw .invalid(field: "userInfo", message: "userInfo must be a dictionary")
        }
        self.init(pairs)
    }

    subscript(_ key: UserInfoValue) -> UserInfoValue? {
        places[key].map { pairs[$0].value }
    }

    mutating func set(_ value: UserInfoValue, for key: UserInfoValue) {
        if let place = places[key] {
            pairs[place].value = value
        } else {
            places[key] = pairs.count
            pairs.append((key, value))
        }
    }

    mutating func remove(_ keys: [UserInfoValue]) {
        let keys = Set(keys)
        guard !keys.isEmpty else { return }
        self = UserInfoMembers(pairs.filter { !keys.contains($0.key) })
    }

    /// Adds the members of another list, whose values replace existing ones.
    mutating func merge(_ others: UserInfoMembers) {
        for (key, value) in others.pairs { set(value, for: key) }
    }

    /// The members as a single dictionary value.
    var value: UserInfoValue { .dictionary(pairs) }

    var namesFiles: Bool {
        var names = false
        value.forEachURL { text in names = names || FileURL(text) != nil }
        return names
    }

    /// The contained URLs of documents on another device.
    var documentURLs: Set<String> {
        var urls: Set<String> = []
        value.forEachURL { text in if DocumentURL(text) != nil { urls.insert(text) } }
        return urls
    }

    /// Returns a copy in which URLs are replaced according to `places`.
    func replacingURLs(_ places: [String: String]) -> UserInfoMembers {
        guard !places.isEmpty, case .dictionary(let pairs) = value.replacingURLs({ places[$0] }) else { return self }
        return UserInfoMembers(pairs)
    }

    /// A copy in which `file:` URLs are replaced by file names. A path from another device has no
    /// meaning here: it would lead to a file chosen by the other device, which this device would
    /// then offer.
    var withoutPaths: UserInfoMembers {
        guard namesFiles, case .dictionary(let pairs) = value.withoutLocalPaths else { return self }
        return UserInfoMembers(pairs)
    }

    /// The tagged form, as it is sent.
    var tagged: JSONObject {
        guard case .object(let object) = UserInfoValue.dictionary(pairs).tagged() else { return [:] }
        return object
    }
}
