import HandoffControl

/// A key of a policy: a row of the table `PolicyKey.all`.
package struct PolicyKey: Sendable {
    /// The name in the file.
    package let key: String

    /// The allowed values, as the end of an error message.
    let allowed: String

    private let read: @Sendable (_ policy: inout Policy, _ value: String, _ place: String) -> Bool

    private init(
        _ key: String, _ allowed: String, read: @escaping @Sendable (inout Policy, String, String) -> Bool
    ) {
        self.key = key
        self.allowed = allowed
        self.read = read
    }

    /// All keys of a policy, each with its allowed values and its effect.
    package static let all: [PolicyKey] = [
        PolicyKey("advertise", "'yes' or 'no'") { $0.setAllowed($1, .advertise, place: $2) },
        PolicyKey("receive", "'yes' or 'no'") { $0.setAllowed($1, .receive, place: $2) },
        PolicyKey("keep", "'yes' or 'no'") { $0.setKept($1, place: $2) },
        PolicyKey("forbid-type", "an activity type, or a prefix of one followed by '*'") {
            $0.forbidType($1, place: $2)
        },
        PolicyKey("forbid-app", "the id of an app, 1 to 255 bytes") { $0.forbidApp($1, place: $2) },
        PolicyKey("forbid-device", "the whole id of a device, 64 hexadecimal digits") {
            $0.forbidDevice($1, place: $2)
        },
    ]

    /// Returns the key with a name, or nil.
    static func named(_ key: String) -> PolicyKey? { all.first { $0.key == key } }

    /// Adds the value of one line to a policy.
    ///
    /// - Parameter place: file and line, reported when something is forbidden.
    /// - Returns: false if the value is not allowed, or there are too many items.
    func add(_ value: String, to policy: inout Policy, place: String) -> Bool { read(&policy, value, place) }
}
