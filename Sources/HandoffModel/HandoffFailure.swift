/// The reason why a continuation failed: one of Apple's codes, a stable identifier for programs,
/// and a message for people.
package struct HandoffFailure: Error, Sendable, Equatable, Codable {
    /// `NSUserActivityHandoffFailedError` 4608, `…ConnectionUnavailableError` 4609,
    /// `…RemoteApplicationTimedOutError` 4610, `…HandoffUserInfoTooLargeError` 4611, or
    /// `NSFeatureUnsupportedError` 3328.
    package let code: Int
    /// A stable identifier in camelCase, such as `ownerGone`.
    package let reason: String
    /// A lower-case sentence fragment that names the cause and the device.
    package let message: String
    /// The newer state, with the reason `newerElsewhere`; otherwise nil.
    package let newer: NewerState?

    /// Creates a failure that another device or the daemon reported. A code that is not one of
    /// Apple's becomes 4608.
    package init(code: Int, reason: String, message: String, newer: NewerState? = nil) {
        self.code = Self.codes.contains(code) ? code : Self.failedCode
        self.reason = reason
        self.message = message
        self.newer = newer
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            code: try fields.decode(Int.self, forKey: .code), reason: try fields.decode(String.self, forKey: .reason),
            message: try fields.decode(String.self, forKey: .message))
    }

    /// Apps and streams have no use for the newer state.
    private enum CodingKeys: String, CodingKey {
        case code, reason, message
    }

    /// The continuation failed for a reason that has no code of its own.
    package static let failedCode = 4608
    /// The other device cannot be reached, or the connection to it was lost.
    package static let connectionUnavailableCode = 4609
    /// The app on the other device did not respond in time.
    package static let timedOutCode = 4610
    /// The payload is larger than the origin allows.
    package static let tooLargeCode = 4611
    /// The activity does not support the request.
    package static let unsupportedCode = 3328

    /// True if the other device cannot be reached, or has not answered in time.
    package var isOffline: Bool { ["peerUnreachable", "peerAsleep", "timedOut"].contains(reason) }

    private static let codes: Set<Int> = [
        failedCode, connectionUnavailableCode, timedOutCode, tooLargeCode, unsupportedCode,
    ]
}

extension HandoffFailure {
    /// The origin does not know the activity, or has withdrawn it.
    package static func unknownActivity(device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "unknownActivity", message: "\(device) no longer offers the activity")
    }

    /// The app that owns the activity ended before it responded.
    package static func ownerGone(device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "ownerGone", message: "the app that owns the activity on \(device) has ended")
    }

    /// The connection failed, or it was lost before the response.
    package static func peerUnreachable(device: String, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "peerUnreachable", message: "cannot reach \(device): \(cause)")
    }

    /// No address of the other device responds. It is off or asleep and did not announce it.
    package static func peerSilent(device: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "peerUnreachable",
            message: "\(device) is not responding and may be asleep")
    }

    /// Datagrams from the other device arrive, but no connection to it succeeds. It is running, and
    /// TCP is blocked.
    package static func connectionsBlocked(device: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "peerUnreachable",
            message:
                "announcements of \(device) arrive, but connections to it fail: a firewall on one of the two devices "
                + "is probably blocking TCP")
    }

    /// The other device announced that it is going to sleep. `since` is formatted for display.
    package static func peerAsleep(device: String, since: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "peerAsleep", message: "\(device) has been asleep since \(since)")
    }

    /// The other device or this one was removed from the account.
    package static func notMember(device: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "notMember",
            message: "this device and \(device) are no longer in the same account")
    }

    /// A newer state of the activity is on another device, or on this one.
    package static func newerElsewhere(_ newer: NewerState) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "newerElsewhere",
            message: "\(newer.deviceName) has a newer state of the activity, with the id \(newer.activity.short)",
            newer: newer)
    }

    /// No other device has made a newer state of a local activity.
    package static func nothingNewer() -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "nothingNewer",
            message: "no other device is known to have a newer state of the activity")
    }

    /// The user cancelled the continuation before the payload arrived.
    package static func cancelled(device: String) -> HandoffFailure {
        HandoffFailure(code: failedCode, reason: "cancelled", message: "continuing from \(device) was cancelled")
    }

    package static func timedOut(device: String) -> HandoffFailure {
        HandoffFailure(code: timedOutCode, reason: "timedOut", message: "\(device) did not answer in time")
    }

    /// The payload exceeds the origin's limit. Sizes are in bytes.
    package static func tooLarge(device: String, bytes: Int, limit: Int) -> HandoffFailure {
        HandoffFailure(
            code: tooLargeCode, reason: "tooLarge",
            message: "the payload on \(device) has \(bytes) bytes; the limit is \(limit)")
    }

    /// Nothing on this device opens the activity. The cause is a sentence fragment.
    package static func noHandler(type: ActivityType, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "noHandler",
            message: "nothing on this device opens activities of type \(type.text): \(cause)")
    }

    /// The app that the user chose does not continue the activity. The cause is a sentence fragment.
    package static func notOpened(by app: String, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "noHandler", message: "\(app) cannot open the activity: \(cause)")
    }

    /// The app for the activity could not be started. The cause is a sentence fragment.
    package static func launchFailed(app: String, cause: String) -> HandoffFailure {
        HandoffFailure(code: failedCode, reason: "launchFailed", message: "cannot start \(app): \(cause)")
    }

    /// The app was started but did not attach in time.
    package static func appNotAttached(app: String) -> HandoffFailure {
        HandoffFailure(
            code: timedOutCode, reason: "appNotAttached",
            message: "\(app) was started, but did not request its activity in time")
    }

    /// The activity's page could not be opened. The message contains the address, so that the user
    /// can open it manually.
    ///
    /// - Parameters:
    ///   - page: The address, or nil if there is no usable one.
    ///   - cause: A sentence fragment.
    package static func pageNotOpened(_ page: String?, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "pageNotOpened",
            message: "cannot open the activity's web page\(page.map { " \($0)" } ?? ""): \(cause)")
    }

    package static func handlerGone(app: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "handlerGone", message: "\(app) ended before it accepted the activity")
    }

    package static func handlerTimedOut(app: String) -> HandoffFailure {
        HandoffFailure(
            code: timedOutCode, reason: "handlerTimedOut", message: "\(app) did not accept the activity in time")
    }

    /// - Parameter cause: why, as the app has reported it; nil if it has not.
    package static func handlerRefused(app: String, cause: String? = nil) -> HandoffFailure {
        let message = "\(app) declined the activity" + (cause.map { ": \($0)" } ?? "")
        return HandoffFailure(code: failedCode, reason: "handlerRefused", message: message)
    }

    /// The origin refuses any activity. It supplies the cause.
    package static func rejected(device: String, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "rejected", message: "\(device) refused to hand over the activity: \(cause)")
    }

    /// Handoff is switched off on the device that received the request.
    package static func paused(device: String) -> HandoffFailure {
        HandoffFailure(code: failedCode, reason: "paused", message: "Handoff is paused on \(device)")
    }

    /// The origin knows of a newer account key that it does not have yet. It hands off nothing
    /// until it receives that key.
    package static func accountKeyMissing(device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "accountKeyMissing",
            message: "\(device) has not received the current account key yet")
    }

    /// The received payload violates a rule. The cause names the field.
    package static func invalidPayload(device: String, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "invalidPayload",
            message: "the activity that \(device) sent cannot be used: \(cause)")
    }

    /// The activity lacks required keys of `userInfo`. The message names only some of them, because
    /// its length is limited.
    package static func requiredKeysMissing(_ keys: [String], device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "requiredKeysMissing",
            message: "the activity on \(device) cannot be continued: \(lacks(keys))")
    }

    /// A sentence fragment that names missing keys of `userInfo`.
    package static func lacks(_ keys: [String]) -> String {
        let named = keys.prefix(3).map { $0.count > 40 ? "\($0.prefix(40))…" : $0 }
        let others = keys.count > named.count ? " and \(keys.count - named.count) more" : ""
        return "its userInfo lacks \(named.joined(separator: ", "))\(others)"
    }

    /// The version of the app at the origin is outside the range that the continuing app accepts.
    package static func otherVersion(_ version: String?, device: String, takes range: VersionRange) -> HandoffFailure {
        let actual = version.map { "has version \($0)" } ?? "reports no version"
        return HandoffFailure(
            code: failedCode, reason: "otherVersion",
            message: "the app on \(device) \(actual), but the app that continues the activity requires \(range)")
    }

    package static func streamsUnsupported(device: String) -> HandoffFailure {
        HandoffFailure(
            code: unsupportedCode, reason: "streamsUnsupported",
            message: "the activity on \(device) has no continuation streams")
    }

    /// Streams belong to a continuation. This one does not belong to the app, or ended long ago.
    package static let notContinued = HandoffFailure(
        code: unsupportedCode, reason: "notContinued", message: "this app is not continuing that activity")

    /// One of the two devices has reached its limit of open streams.
    package static func tooManyStreams(device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "tooManyStreams", message: "too many streams are open to \(device)")
    }
}

extension HandoffFailure {
    /// Reasons that occur only on the continuing device, so another device must not report them.
    private static let ownReasons: Set<String> = [
        "peerUnreachable", "peerAsleep", "notMember", "cancelled", "timedOut", "noHandler", "launchFailed",
        "appNotAttached",
        "pageNotOpened", "handlerGone", "handlerTimedOut", "handlerRefused", "invalidPayload", "notContinued",
        // Used in the continuation log for successful continuations.
        "continued", "given",
    ]

    /// The failure that this device reports for another device's error response. Reasons that the
    /// other device may report get this device's wording. Other messages are quoted as the other
    /// device's own, so that its advice is not mistaken for this device's.
    ///
    /// - Parameter device: The local name of the device.
    package func reported(by device: String) -> HandoffFailure {
        switch reason {
        case "unknownActivity": .unknownActivity(device: device)
        case "ownerGone": .ownerGone(device: device)
        case "paused": .paused(device: device)
        case "accountKeyMissing": .accountKeyMissing(device: device)
        case "streamsUnsupported": .streamsUnsupported(device: device)
        case "tooManyStreams": .tooManyStreams(device: device)
        case _ where Self.ownReasons.contains(reason) || !Self.isIdentifier(reason):
            .rejected(device: device, cause: "it reported: \(message)")
        default: HandoffFailure(code: code, reason: reason, message: "\(device) reported: \(message)")
        }
    }

    /// Returns whether a reason consists of ASCII letters. A log shows it next to this device's own
    /// reasons.
    private static func isIdentifier(_ reason: String) -> Bool {
        !reason.isEmpty && reason.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
    }
}
