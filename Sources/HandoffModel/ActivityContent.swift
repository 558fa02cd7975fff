package import HandoffJSON

/// An activity as its app describes it; what a continuation carries to the other device.
package struct ActivityContent: Sendable, Equatable {
    /// What kind of activity it is.
    package var type: ActivityType
    /// What the user is doing, in words.
    package var title: String?
    /// What the other app needs to continue, in the tagged form that `UserInfo` describes.
    package var userInfo: JSONObject
    /// A web page that continues the activity where no app does.
    package var webpageURL: String?
    /// The team of the app; nil only matches nil.
    package var team: String?
    /// The keys of `userInfo` without which the activity cannot be continued.
    package var requiredUserInfoKeys: [String]
    /// Whether the continuing app may ask for continuation streams.
    package var supportsStreams: Bool
    /// Whether the activity is offered to other devices at all; stays on the device.
    package var isEligibleForHandoff: Bool
    /// When the activity ends by itself, in seconds since 2001-01-01 UTC; stays on the device.
    package var expiration: Double?
    /// Which content it is about, by which the other app finds the window for it.
    package var targetContentIdentifier: String?

    /// An activity with Apple's defaults for what is not said.
    package init(
        type: ActivityType, title: String? = nil, userInfo: JSONObject = [:], webpageURL: String? = nil,
        team: String? = nil, requiredUserInfoKeys: [String] = [], supportsStreams: Bool = false,
        isEligibleForHandoff: Bool = true, expiration: Double? = nil, targetContentIdentifier: String? = nil
    ) {
        self.type = type
        self.title = title
        self.userInfo = userInfo
        self.webpageURL = webpageURL
        self.team = team
        self.requiredUserInfoKeys = requiredUserInfoKeys
        self.supportsStreams = supportsStreams
        self.isEligibleForHandoff = isEligibleForHandoff
        self.expiration = expiration
        self.targetContentIdentifier = targetContentIdentifier
    }

    /// Checks every field, and that the encoded payload has at most so many bytes; returns how many it has, which is
    /// what the 3 KiB advice is about.
    @discardableResult
    package func validate(
        origin: PayloadOrigin = PayloadOrigin(), maxPayload: Int = Limits.payloadDefault
    ) throws(ActivityError) -> Int {
        try checkFields()
        return try checkSize(origin: origin, maxPayload: maxPayload)
    }

    /// Checks that the encoded payload has at most so many bytes; returns how many it has. For who has checked the fields.
    @discardableResult
    package func checkSize(origin: PayloadOrigin, maxPayload: Int) throws(ActivityError) -> Int {
        let count = encodedPayload(origin: origin).encodedCount
        guard count <= maxPayload else { throw .tooLarge(bytes: count, limit: maxPayload) }
        return count
    }

    /// The required keys that `userInfo` has not: with one of them missing the activity cannot be continued.
    package var missingRequiredKeys: [String] {
        guard !requiredUserInfoKeys.isEmpty else { return [] }
        guard userInfo.count == 1, case .array(let pairs)? = userInfo["$dict"] else {
            return requiredUserInfoKeys.filter { userInfo[$0] == nil }
        }
        let keys = Set(pairs.compactMap { $0.array?.first })
        return requiredUserInfoKeys.filter { !keys.contains(.string($0)) }
    }

    func checkFields() throws(ActivityError) {
        try Self.check(title, field: "title", maximum: Limits.title)
        try Self.check(team, field: "team", maximum: Limits.team)
        try Self.check(
            targetContentIdentifier, field: "targetContentIdentifier", maximum: Limits.targetContentIdentifier)
        if let problem = webpageURL.flatMap(WebURL.problem) {
            throw .invalid(field: "webpageURL", message: "not an address of a page: \(problem)")
        }
        guard requiredUserInfoKeys.count <= Limits.requiredKeys else {
            throw .invalid(field: "requiredUserInfoKeys", message: "more than \(Limits.requiredKeys) keys")
        }
        for key in requiredUserInfoKeys {
            try Self.check(key, field: "requiredUserInfoKeys", maximum: Limits.requiredKey)
        }
        if let expiration, !expiration.isFinite {
            throw .invalid(field: "expirationDate", message: "not a finite number")
        }
        try UserInfo.validate(userInfo)
    }

    private static func check(_ text: String?, field: String, maximum: Int) throws(ActivityError) {
        guard let text, text.utf8.count > maximum else { return }
        throw .invalid(field: field, message: "longer than \(maximum) bytes")
    }

    package static func == (left: ActivityContent, right: ActivityContent) -> Bool {
        left.encodedPayload() == right.encodedPayload() && left.isEligibleForHandoff == right.isEligibleForHandoff
            && left.expiration == right.expiration
    }
}

/// What is wrong with an activity that an app described or another device sent.
package enum ActivityError: Error, Equatable, Sendable {
    /// A field breaks a rule; the field is a path such as `userInfo.photo.$data`.
    case invalid(field: String, message: String)
    /// The encoded payload is too large; both in bytes.
    case tooLarge(bytes: Int, limit: Int)
}

extension ActivityError: CustomStringConvertible {
    /// The path of the field that is wrong.
    package var field: String {
        switch self {
        case .invalid(let field, _): field
        case .tooLarge: "userInfo"
        }
    }

    /// What is wrong with the field, as a fragment.
    package var message: String {
        switch self {
        case .invalid(_, let message): message
        case .tooLarge(let bytes, let limit): "the payload has \(bytes) bytes, \(limit) are allowed"
        }
    }

    /// Apple's code: 4611 when the payload is too large, otherwise 4608.
    package var code: Int {
        switch self {
        case .invalid: HandoffFailure.failedCode
        case .tooLarge: HandoffFailure.tooLargeCode
        }
    }

    /// Field and message, for a log or an error line.
    package var description: String {
        "\(field): \(message)"
    }
}
