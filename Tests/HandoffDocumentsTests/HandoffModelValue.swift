import HandoffModel

/// Values of `userInfo` for these tests.
enum HandoffModelValue {
    /// A list of URLs.
    static func array(_ urls: [String]) -> UserInfoValue { .array(urls.map(UserInfoValue.url)) }

    /// The URLs of a list.
    static func texts(_ value: UserInfoValue) -> [String] {
        guard case .array(let elements) = value else { return [] }
        return elements.map { if case .url(let text) = $0 { text } else { "?" } }
    }
}
