public import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel

/// An activity as it is sent between devices. A value that a test can create, compare and save to a
/// file.
public struct LoopbackActivity: Sendable, Equatable {
    var description: ActivityDescription

    /// Creates an activity. An invalid type, and a `userInfo` that cannot be sent, end the process.
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

    /// Creates an activity from JSON: the fields of `ActivityDescription` in the interface
    /// `dev.handoff1`, with `userInfo` in the tagged form that `handoffctl publish --user-info`
    /// accepts.
    /// - Throws: an error if the text is invalid.
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

    /// The type of the activity.
    public var activityType: String { description.type }

    /// The user-visible title.
    public var title: String? {
        get { description.title }
        set { description.title = newValue }
    }

    /// The data that the app needs to continue, as in `NSUserActivity`.
    public var userInfo: [AnyHashable: Any] {
        get { (try? NSUserActivity.userInfo(tagged: description.userInfo ?? [:])) ?? [:] }
        set {
            do {
                let tagged = try NSUserActivity.taggedUserInfo(newValue)
                description.userInfo = tagged.isEmpty ? nil : tagged
            } catch {
                // A mistake of the test, as documented for the initializer: a property cannot
                // throw.
                fatalError("\(error)")
            }
        }
    }

    /// A web page that continues the activity if no app does.
    public var webpageURL: URL? {
        get { description.webpageURL.flatMap { URL(string: $0) } }
        set { description.webpageURL = newValue?.absoluteString }
    }

    /// The keys of `userInfo` that are required to continue the activity.
    public var requiredUserInfoKeys: Set<String> {
        get { Set(description.requiredUserInfoKeys ?? []) }
        set { description.requiredUserInfoKeys = newValue.isEmpty ? nil : newValue.sorted() }
    }

    /// Identifies the content of the activity.
    public var targetContentIdentifier: String? {
        get { description.targetContentIdentifier }
        set { description.targetContentIdentifier = newValue }
    }

    /// The team of the activity's app.
    public var teamIdentifier: String? {
        get { description.team }
        set { description.team = newValue }
    }

    /// The activity as JSON, for `init(json:)`.
    public var json: String { String(decoding: description.json.encoded(), as: UTF8.self) }

    /// Returns the activity in the form that a simulated device offers.
    /// - Throws: an error if no device would accept it.
    func content() throws(ActivityError) -> ActivityContent {
        let content = try description.content()
        try content.validate(maxPayload: Limits.payloadMaximum)
        return content
    }
}
