/// Why a continuation failed: one of Apple's codes, a stable reason for programs, and words for people.
package struct HandoffFailure: Error, Sendable, Equatable, Codable {
    /// `NSUserActivityHandoffFailedError` 4608, `…ConnectionUnavailableError` 4609, `…RemoteApplicationTimedOutError`
    /// 4610, `…HandoffUserInfoTooLargeError` 4611, or `NSFeatureUnsupportedError` 3328.
    package let code: Int
    /// A stable identifier in camelCase, such as `ownerGone`.
    package let reason: String
    /// A lower-case fragment that names the cause and the device.
    package let message: String

    /// A failure that another device or the daemon reported; its code becomes 4608 when it is none of Apple's.
    package init(code: Int, reason: String, message: String) {
        self.code = Self.codes.contains(code) ? code : Self.failedCode
        self.reason = reason
        self.message = message
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            code: try fields.decode(Int.self, forKey: .code), reason: try fields.decode(String.self, forKey: .reason),
            message: try fields.decode(String.self, forKey: .message))
    }

    /// The continuation failed for a reason that has no code of its own.
    package static let failedCode = 4608
    /// The other device cannot be reached, or the connection to it was lost.
    package static let connectionUnavailableCode = 4609
    /// The app on the other device did not answer in time.
    package static let timedOutCode = 4610
    /// The payload is larger than the origin allows.
    package static let tooLargeCode = 4611
    /// What was asked is not supported by this activity.
    package static let unsupportedCode = 3328

    private static let codes: Set<Int> = [
        failedCode, connectionUnavailableCode, timedOutCode, tooLargeCode, unsupportedCode,
    ]
}

extension HandoffFailure {
    /// The origin does not know the activity, or withdrew it.
    package static func unknownActivity(device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "unknownActivity", message: "the activity is no longer on offer by \(device)")
    }

    /// The app that owns the activity ended before it answered.
    package static func ownerGone(device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "ownerGone", message: "the app that owns the activity on \(device) has ended")
    }

    /// No connection could be made, or it was lost before the answer.
    package static func peerUnreachable(device: String, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "peerUnreachable", message: "cannot reach \(device): \(cause)")
    }

    /// Nothing answers at any address of the other device: it is off or asleep, and has not said so.
    package static func peerSilent(device: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "peerUnreachable", message: "\(device) does not answer (asleep?)")
    }

    /// Datagrams of the other device arrive, and nothing answers a call to it: it runs, and TCP is blocked.
    package static func connectionsBlocked(device: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "peerUnreachable",
            message:
                "announcements of \(device) arrive, but connections to it fail: a firewall on one of the two devices "
                + "probably blocks TCP")
    }

    /// The other device has said that it goes to sleep; the moment is as a person reads it.
    package static func peerAsleep(device: String, since: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "peerAsleep", message: "\(device) is asleep since \(since)")
    }

    /// The other device was removed from the account, or this one was.
    package static func notMember(device: String) -> HandoffFailure {
        HandoffFailure(
            code: connectionUnavailableCode, reason: "notMember",
            message: "this device and \(device) are no longer in one account")
    }

    /// The user gave it up before the payload came.
    package static func cancelled(device: String) -> HandoffFailure {
        HandoffFailure(code: failedCode, reason: "cancelled", message: "continuing from \(device) was cancelled")
    }

    /// The other device did not answer in time.
    package static func timedOut(device: String) -> HandoffFailure {
        HandoffFailure(code: timedOutCode, reason: "timedOut", message: "\(device) did not answer in time")
    }

    /// The payload exceeds the origin's limit; sizes in bytes.
    package static func tooLarge(device: String, bytes: Int, limit: Int) -> HandoffFailure {
        HandoffFailure(
            code: tooLargeCode, reason: "tooLarge",
            message: "the payload on \(device) has \(bytes) bytes, \(limit) are allowed")
    }

    /// Nothing on this device opens the activity; the cause is a fragment.
    package static func noHandler(type: ActivityType, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "noHandler",
            message: "nothing on this device opens activities of type \(type.text): \(cause)")
    }

    /// The app that was to continue the activity could not be started; the cause is a fragment.
    package static func launchFailed(app: String, cause: String) -> HandoffFailure {
        HandoffFailure(code: failedCode, reason: "launchFailed", message: "cannot start \(app): \(cause)")
    }

    /// The app was started, and did not say within its time that it is there.
    package static func appNotAttached(app: String) -> HandoffFailure {
        HandoffFailure(
            code: timedOutCode, reason: "appNotAttached",
            message: "\(app) was started, but did not ask for its activity in time")
    }

    /// The activity's page could not be opened. The message names the page, so that its user can open it by hand.
    ///
    /// - Parameters:
    ///   - page: its address, or nil when it has none that can be used.
    ///   - cause: a fragment.
    package static func pageNotOpened(_ page: String?, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "pageNotOpened",
            message: "cannot open the activity's web page\(page.map { " \($0)" } ?? ""): \(cause)")
    }

    /// The handling app ended before it took the activity over.
    package static func handlerGone(app: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "handlerGone", message: "\(app) ended before it took the activity over")
    }

    /// The handling app did not answer in time.
    package static func handlerTimedOut(app: String) -> HandoffFailure {
        HandoffFailure(
            code: timedOutCode, reason: "handlerTimedOut", message: "\(app) did not take the activity over in time")
    }

    /// The handling app answered that it does not take the activity.
    package static func handlerRefused(app: String) -> HandoffFailure {
        HandoffFailure(code: failedCode, reason: "handlerRefused", message: "\(app) refused to take the activity over")
    }

    /// The origin refuses, whatever the activity; the cause is its own.
    package static func rejected(device: String, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "rejected", message: "\(device) refused to hand the activity over: \(cause)")
    }

    /// Handoff is switched off where this was asked.
    package static func paused(device: String) -> HandoffFailure {
        HandoffFailure(code: failedCode, reason: "paused", message: "Handoff is paused on \(device)")
    }

    /// The origin knows of a newer account key than it holds, and hands nothing over before it has that.
    package static func accountKeyMissing(device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "accountKeyMissing",
            message: "the account key in force has not reached \(device) yet")
    }

    /// The payload that arrived breaks a rule; the cause names the field.
    package static func invalidPayload(device: String, cause: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "invalidPayload",
            message: "the activity that \(device) sent cannot be used: \(cause)")
    }

    /// The activity lacks keys of `userInfo` that it requires. Some of them are named: the message has a limit.
    package static func requiredKeysMissing(_ keys: [String], device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "requiredKeysMissing",
            message: "the activity on \(device) cannot be continued: \(lacks(keys))")
    }

    /// That `userInfo` lacks keys, as a fragment.
    package static func lacks(_ keys: [String]) -> String {
        let named = keys.prefix(3).map { $0.count > 40 ? "\($0.prefix(40))…" : $0 }
        let others = keys.count > named.count ? " and \(keys.count - named.count) more" : ""
        return "its userInfo lacks \(named.joined(separator: ", "))\(others)"
    }

    /// The app at the origin is none of the versions that the app which continues it takes.
    package static func otherVersion(_ version: String?, device: String, takes range: VersionRange) -> HandoffFailure {
        let actual = version.map { "has version \($0)" } ?? "names no version"
        return HandoffFailure(
            code: failedCode, reason: "otherVersion",
            message: "the app on \(device) \(actual), and the app that continues the activity takes \(range)")
    }

    /// The activity has no continuation streams.
    package static func streamsUnsupported(device: String) -> HandoffFailure {
        HandoffFailure(
            code: unsupportedCode, reason: "streamsUnsupported",
            message: "the activity on \(device) has no continuation streams")
    }

    /// Streams belong to a continuation, and this one is none of this app, or is long over.
    package static let notContinued = HandoffFailure(
        code: unsupportedCode, reason: "notContinued", message: "this app does not continue that activity")

    /// A limit of open streams was reached on one of the two devices.
    package static func tooManyStreams(device: String) -> HandoffFailure {
        HandoffFailure(
            code: failedCode, reason: "tooManyStreams", message: "too many streams are open to \(device)")
    }
}

extension HandoffFailure {
    /// Reasons that arise on the device that continues, and are none of another device's to give.
    private static let ownReasons: Set<String> = [
        "peerUnreachable", "peerAsleep", "notMember", "cancelled", "timedOut", "noHandler", "launchFailed",
        "appNotAttached",
        "pageNotOpened", "handlerGone", "handlerTimedOut", "handlerRefused", "invalidPayload", "notContinued",
        // What the log of continuations says where nothing has failed.
        "continued", "given",
    ]

    /// What another device answered instead of what it was asked for, as this device passes it on: what it may say of itself in
    /// our words, everything else as its own. So nobody takes the advice of another device for that of this one.
    ///
    /// - Parameter device: what the device is called here.
    package func told(by device: String) -> HandoffFailure {
        switch reason {
        case "unknownActivity": .unknownActivity(device: device)
        case "ownerGone": .ownerGone(device: device)
        case "paused": .paused(device: device)
        case "accountKeyMissing": .accountKeyMissing(device: device)
        case "streamsUnsupported": .streamsUnsupported(device: device)
        case "tooManyStreams": .tooManyStreams(device: device)
        case _ where Self.ownReasons.contains(reason) || !Self.isWord(reason):
            .rejected(device: device, cause: "it says: \(message)")
        default: HandoffFailure(code: code, reason: reason, message: "\(device) says: \(message)")
        }
    }

    /// Whether a reason is a word as programs know them: a log shows it beside words of this device.
    private static func isWord(_ reason: String) -> Bool {
        !reason.isEmpty && reason.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
    }
}
