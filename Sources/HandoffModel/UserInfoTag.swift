/// The `$` keys of the tagged form, by which `userInfo` keeps types that JSON lacks.
///
/// An object is tagged when it has exactly one member and the key begins with `$`.
enum UserInfoTag: String {
    /// Base 64 of bytes.
    case data = "$data"
    /// Seconds since 2001-01-01 UTC.
    case date = "$date"
    /// The text of a URL.
    case url = "$url"
    /// The text of a UUID.
    case uuid = "$uuid"
    /// The elements of a set, each once.
    case set = "$set"
    /// `nan`, `inf` or `-inf`, which JSON numbers cannot say.
    case double = "$double"
    /// The decimal text of an integer above `Int64.max`.
    case uint = "$uint"
    /// Pairs of key and value, where a plain object would not do.
    case dict = "$dict"

    /// The tag of a key, which may be none of them; compared as bytes, which for ASCII `==` is.
    init?(key: String) {
        self.init(rawValue: key)
    }

    /// Whether a key, as the only one of its object, makes the object a tagged one.
    static func isTagLike(_ key: String) -> Bool {
        key.utf8.first == UInt8(ascii: "$")
    }
}
