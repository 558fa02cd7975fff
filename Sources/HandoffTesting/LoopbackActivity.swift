public import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel

/// An activity as it travels between devices: a value, for a test to make, to compare and to keep in a file.
public struct LoopbackActivity: Sendable, Equatable {
    var description: ActivityDescription

    /// An activity. A type that cannot be any, and a `userInfo` with what cannot travel, end the process.
    public init(
        activityType: String, title: String? = nil, userInfo: [AnyHashable: Any] = [:], webpageURL: URL? = nil,
        requiredUserInfoKeys: Set<String> = [], targetContentIdentifier: String? = nil, teamIdentifier: String? = nil
    ) {
        description = ActivityDescription(type: activityType)
        self.title = title
        self.userInfo = userInfo
        self.webpageURL = webpageURL
        self.requiredUserInfoKeys = requiredUserInfoKeys
        self.targetContentIdentifier = targetContentIdentifier
        self.teamIdentifier = teamIdentifier
    }

    /// An activity that was kept as JSON: the fields of `ActivityDescription` of the interface `dev.handoff1`, with `userInfo` in the
    /// tagged form, as `handoffctl publish --user-info` takes it.
    /// - Throws: for what is no such text.
    public init(json: String) throws {
        do {
            let object = try JSON(parsing: Array(json.utf8), limits: Self.limits).object
            guard let object else { throw LoopbackRecording.Unreadable(reason: "no object") }
            self.init(try ActivityDescription(json: object))
            _ = try content()
        } catch let error as LoopbackRecording.Unreadable {
            throw error
        } catch {
            throw LoopbackRecording.Unreadable(reason: "\(error)")
        }
    }

    init(_ description: ActivityDescription) {
        self.description = description
    }

    init(_ content: ActivityContent) {
        description = ActivityDescription(type: content.type.text)
        description.title = content.title
        description.userInfo = content.userInfo.isEmpty ? nil : content.userInfo
        description.webpageURL = content.webpageURL
        description.team = content.team
        description.requiredUserInfoKeys = content.requiredUserInfoKeys.isEmpty ? nil : content.requiredUserInfoKeys
        description.supportsContinuationStreams = content.supportsStreams ? true : nil
        description.targetContentIdentifier = content.targetContentIdentifier
    }

    static let limits = JSONLimits(bytes: 16 << 20, members: 65_536, values: 1 << 20)

    /// What kind of activity it is.
    public var activityType: String { description.type }

    /// What the user was doing.
    public var title: String? {
        get { description.title }
        set { description.title = newValue }
    }

    /// What the app needs to continue, as `NSUserActivity` has it.
    public var userInfo: [AnyHashable: Any] {
        get { (try? NSUserActivity.userInfo(tagged: description.userInfo ?? [:])) ?? [:] }
        set {
            do {
                let tagged = try NSUserActivity.taggedUserInfo(newValue)
                description.userInfo = tagged.isEmpty ? nil : tagged
            } catch {
                // The test's own mistake, as documented at the initialiser: a property cannot throw.
                fatalError("\(error)")
            }
        }
    }

    /// A web page that continues it where no app does.
    public var webpageURL: URL? {
        get { description.webpageURL.flatMap { URL(string: $0) } }
        set { description.webpageURL = newValue?.absoluteString }
    }

    /// The keys of `userInfo` without which it cannot be continued.
    public var requiredUserInfoKeys: Set<String> {
        get { Set(description.requiredUserInfoKeys ?? []) }
        set { description.requiredUserInfoKeys = newValue.isEmpty ? nil : newValue.sorted() }
    }

    /// Which content it is about.
    public var targetContentIdentifier: String? {
        get { description.targetContentIdentifier }
        set { description.targetContentIdentifier = newValue }
    }

    /// The team of its app.
    public var teamIdentifier: String? {
        get { description.team }
        set { description.team = newValue }
    }

    /// The activity as JSON, for `init(json:)`.
    public var json: String { String(decoding: description.json.encoded(), as: UTF8.self) }

    /// The activity for a device that is played.
    /// - Throws: for what no device takes.
    func content() throws(ActivityError) -> ActivityContent {
        let content = try description.content()
        try content.validate(maxPayload: Limits.payloadMaximum)
        return content
    }
}
