package import HandoffJSON

/// An activity as described by its app, and as transferred to the continuing device.
package struct ActivityContent: Sendable, Equatable {
    package var type: ActivityType
    /// A description of what the user is doing.
    package var title: String?
    /// The data that the other app needs to continue, in the tagged form that `UserInfo` describes.
    package var userInfo: JSONObject
    /// A web page that continues the activity if no app does.
    package var webpageURL: String?
    /// The team of the app. Nil matches only nil.
    package var team: String?
    /// The keys of `userInfo` that are required to continue the activity.
    package var requiredUserInfoKeys: [String]
    /// True if the continuing app may request continuation streams.
    package var supportsStreams: Bool
    /// True if the activity is offered to other devices. It is not sent.
    package var isEligibleForHandoff: Bool
    /// The expiration time, in seconds since 2001-01-01 UTC. It is not sent.
    package var expiration: Double?
    /// The identifier of the content, which the other app uses to find the window for it.
    package var targetContentIdentifier: String?
    /// The activity of another device that this one continues; nil if it began here.
    package var lineage: Lineage?
    /// True if its app edits the content exclusively, so that others should not change it meanwhile.
    package var isExclusive: Bool

    /// Creates an activity with Apple's defaults for omitted values.
    package init(
        type: ActivityType, title: String? = nil, userInfo: JSONObject = [:], webpageURL: String? = nil,
        team: String? = nil, requiredUserInfoKeys: [String] = [], supportsStreams: Bool = false,
        isEligibleForHandoff: Bool = true, expiration: Double? = nil, targetContentIdentifier: String? = nil,
        lineage: Lineage? = nil, isExclusive: Bool = false
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
        self.lineage = lineage
        self.isExclusive = isExclusive
    }

    /// Checks every field and the size of the encoded payload, and returns that size in bytes. The
    /// 3 KiB advice refers to it.
    @discardableResult
    package func validate(
        origin: PayloadOrigin = PayloadOrigin(), maxPayload: Int = Limits.payloadDefault
    ) throws(ActivityError) -> Int {
        try checkFields()
        return try checkSize(origin: origin, maxPayload: maxPayload)
    }

    /// Checks the size of the encoded payload and returns it in bytes. The caller has already
    /// checked the fields.
    @discardableResult
    package func checkSize(origin: PayloadOrigin, maxPayload: Int) throws(ActivityError) -> Int {
        let count = encodedPayload(origin: origin).encodedCount
        guard count <= maxPayload else { throw .tooLarge(bytes: count, limit: maxPayload) }
        return count
    }

    /// The required keys that `userInfo` lacks. If any is missing, the activity cannot be
    /// continued.
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
            throw .invalid(field: "webpageURL", message: "not a valid web page address: \(problem)")
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

/// An error in an activity that an app described or another device sent.
package enum ActivityError: Error, Equatable, Sendable {
    /// A field violates a rule. The field is a path such as `userInfo.photo.$data`.
    case invalid(field: String, message: String)
    /// The encoded payload is too large. Both values are in bytes.
    case tooLarge(bytes: Int, limit: Int)
}

extension ActivityError: CustomStringConvertible {
    package var field: String {
        switch self {
        case .invalid(let field, _): field
        case .tooLarge: "userInfo"
        }
    }

    /// The problem with the field, as a sentence fragment.
    package var message: String {
        switch self {
        case .invalid(_, let message): message
        case .tooLarge(let bytes, let limit): "the payload has \(bytes) bytes; the limit is \(limit)"
        }
    }

    /// Apple's code: 4611 if the payload is too large, otherwise 4608.
    package var code: Int {
        switch self {
        case .invalid: HandoffFailure.failedCode
        case .tooLarge: HandoffFailure.tooLargeCode
        }
    }

    /// The field and the message, for a log or an error line.
    package var description: String {
        "\(field): \(message)"
    }
}
