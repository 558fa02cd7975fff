public import Foundation
import HandoffControl
import HandoffDocuments
import HandoffJSON
import HandoffModel
import LoopIO

/// A representation of the user's activity that another device can continue. Follows Apple's class
/// of the same name, which Foundation lacks on Linux.
///
/// Thread-safe. The creator of an activity must keep a reference: when the last one is released,
/// the activity ends as with `invalidate()`.
///
/// Unchecked: the state is protected by one lock, the list of responders by a second, the reference
/// to the delegate by a third, in-place changes of `userInfo` by a fourth. No lock is held during a
/// call to other code.
open class NSUserActivity: NSObject, @unchecked Sendable {
    /// The identity: two objects are equal if their keys are.
    let key = UUID()
    let application: HandoffApplication
    /// Set if the activity was sent by another device.
    let continuation: Continuation?

    private let state: Locked<ActivityState>
    /// `userInfo` after an in-place change by the app. It is checked and moved to the state at the
    /// next read. Locked before the state.
    private var changedUserInfo: [AnyHashable: Any]?
    private let userInfoLock = NSLock()
    private let delegateLock = NSLock()
    /// Not stored as an object to be cast: a cast finds a main-actor-isolated conformance only on
    /// the main actor.
    private weak var storedDelegate: (any NSUserActivityDelegate)?
    private var hasDelegate = false
    private let responders = ResponderList()

    /// Creates an activity of the app's shared `HandoffApplication`.
    /// - Parameter activityType: the type, in reverse-DNS form: 1 to 255 visible ASCII characters.
    ///   An empty one ends the process, where Apple's class raises an exception.
    public init(activityType: String) {
        state = Self.state(of: activityType)
        application = .shared
        continuation = nil
        super.init()
    }

    /// Creates an activity of the first type that the app declares in `NSUserActivityTypes`. If
    /// there is none, the process ends.
    @available(*, deprecated, message: "Use init(activityType:)")
    public convenience override init() {
        guard let type = HandoffApplication.shared.activityTypes.first else {
            misuse("NSUserActivity() needs NSUserActivityTypes in the app's Info.plist")
        }
        self.init(activityType: type, application: .shared)
    }

    /// Creates an activity of a separate application object, for tests and for processes that
    /// contain several apps.
    public init(activityType: String, application: HandoffApplication) {
        state = Self.state(of: activityType)
        self.application = application
        continuation = nil
        super.init()
    }

    init(continued content: ActivityState, _ continuation: Continuation, application: HandoffApplication) {
        state = Locked(content)
        self.application = application
        self.continuation = continuation
        super.init()
    }

    deinit {
        application.activityEnded(key)
    }

    private static func state(of activityType: String) -> Locked<ActivityState> {
        if activityType.isEmpty { misuse("an activity needs a type") }
        return Locked(ActivityState(type: activityType))
    }

    // MARK: Content

    /// The type of the activity.
    public var activityType: String { state.withLock { $0.type } }

    /// A user-visible title, shown on the other device. A title longer than 1,024 bytes is sent
    /// truncated.
    open var title: String? {
        get { state.withLock { $0.title } }
        set { change { $0.title = newValue } }
    }

    /// The data that the other app needs to continue the activity. For a quick handoff, keep it
    /// below about 3 KB.
    ///
    /// Keys and values are `String`, numbers, `Bool`, `Data`, `Date`, `URL`, `UUID`, `NSNull`, and
    /// arrays, dictionaries and sets of these, or their Objective-C classes. Anything else ends the
    /// process, where Apple's class raises an exception; `check(userInfo:)` finds it beforehand.
    /// The value is copied. After nil was set, it reads back as an empty dictionary.
    ///
    /// Numbers read back as `NSNumber`, so that `as? Int` and `as? Double` behave as on Apple's
    /// systems. As keys and in sets they are Swift's own types, so that lookups succeed. The
    /// `file:` URL of a document arrives as a URL of the same document, or of a location to which
    /// `startAccessingSecurityScopedResource()` fetches it. A URL that is relative to another one
    /// reads back, and arrives, as an absolute URL.
    ///
    /// Setting it does not set `needsSave`. A member that is set in place, as in
    /// `userInfo?["page"] = 3`, is checked when the activity is next read or sent.
    open var userInfo: [AnyHashable: Any]? {
        get { UserInfoBridge.dictionary(snapshot.userInfo) }
        set {
            let members = Self.members(newValue ?? [:])
            changeUserInfo { $0.setUserInfo(members) }
        }
        _modify {
            // In place, so that setting many members one by one costs no more than setting all of
            // them together.
            var dictionary = takeUserInfo()
            defer {
                userInfoLock.withLock { changedUserInfo = dictionary ?? [:] }
                application.userInfoChanged(key)
            }
            yield &dictionary
        }
    }

    /// Adds members to `userInfo`. New values replace existing ones. Does not set `needsSave`.
    /// - Parameter otherDictionary: the members to add, checked like `userInfo`.
    open func addUserInfoEntries(from otherDictionary: [AnyHashable: Any]) {
        let members = Self.members(otherDictionary)
        changeUserInfo { $0.userInfo.merge(members) }
    }

    /// Checks whether a dictionary can be sent as `userInfo`: the types of the values, the nesting,
    /// the number of members, and the total size, which is limited to 960 KiB including the rest of
    /// the activity. A dictionary that fails this check is not published either: `onDiagnostic` of
    /// the application then receives the same error. Other devices may accept less: for the
    /// recommended size, see `userInfo`.
    /// - Throws: `CocoaError` 4608 with a description that names the path of the value, or 4611 if
    ///   the total is too large.
    public static func check(userInfo: [AnyHashable: Any]) throws {
        do throws(ActivityError) {
            let content = ActivityContent(
                type: .browsingWeb, userInfo: try UserInfoBridge.members(of: userInfo).tagged)
            try content.validate(maxPayload: Limits.payloadMaximum)
        } catch {
            throw HandoffError(error).cocoaError
        }
    }

    /// The keys of `userInfo` that are required to continue the activity. If one is missing, the
    /// continuation fails on the other device.
    open var requiredUserInfoKeys: Set<String>? {
        get { state.withLock { $0.requiredUserInfoKeys } }
        set { change { $0.requiredUserInfoKeys = newValue } }
    }

    /// A Boolean value that indicates whether there are unsaved changes; initially true. Setting it
    /// while the activity is current schedules a save, so set it at every step of the user.
    open var needsSave: Bool {
        get { state.withLock { $0.needsSave } }
        set {
            // Set at every step of the user, but only the first one after a save changes it.
            let isNew = state.withLock { state in
                defer { state.needsSave = newValue }
                return state.needsSave != newValue
            }
            if isNew { application.activityChanged(key) }
        }
    }

    /// A web page that continues the activity if no app does. The scheme must be http or https: any
    /// other one ends the process, where Apple's class raises an exception.
    open var webpageURL: URL? {
        get { state.withLock { $0.webpageURL } }
        set {
            if let newValue, !["http", "https"].contains(newValue.scheme?.lowercased()) {
                misuse("webpageURL must be an http or https URL, not '\(newValue.absoluteString)'")
            }
            change { $0.webpageURL = newValue }
        }
    }

    /// The page that led to `webpageURL`. Not sent to other devices.
    open var referrerURL: URL? {
        get { state.withLock { $0.referrerURL } }
        set { change { $0.referrerURL = newValue } }
    }

    /// The date on which the activity expires. With nil, it expires a day after the app's last call
    /// about it, or after the time that the user has set for the device. `Date.distantFuture` means
    /// never.
    // Of Apple's type.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var expirationDate: Date! {
        get { state.withLock { $0.expirationDate } }
        set { change { $0.expirationDate = newValue } }
    }

    /// Search keywords. Not sent to other devices.
    open var keywords: Set<String> {
        get { state.withLock { $0.keywords } }
        set { change { $0.keywords = newValue } }
    }

    /// A Boolean value that indicates whether the app that continues the activity may request
    /// streams; initially false. May be changed at any time.
    open var supportsContinuationStreams: Bool {
        get { state.withLock { $0.supportsContinuationStreams } }
        set { change { $0.supportsContinuationStreams = newValue } }
    }

    /// A Boolean value that indicates whether the activity is offered to other devices; initially
    /// true.
    open var isEligibleForHandoff: Bool {
        get { state.withLock { $0.isEligibleForHandoff } }
        set { change { $0.isEligibleForHandoff = newValue } }
    }

    /// Determines whether other devices keep the activity, to continue it while this device or the
    /// app is off; initially nil. Apple's class lacks it.
    ///
    /// - With nil, they keep the last saved state while the activity is on offer, and can continue it
    ///   while this device is asleep or off.
    /// - With true, they can also continue it once the app has ended, or another activity has become
    ///   current, for up to 24 hours, until `invalidate()` is called or the object is released. Setting
    ///   it sends them the present state immediately.
    /// - With false, no other device keeps it. Set it if the activity is useless without this device,
    ///   or its content must not stay in the memory of another one.
    ///
    /// Once it was set on a published activity, nil has no effect.
    open var isEligibleForKeeping: Bool? {
        get { state.withLock { $0.isEligibleForKeeping } }
        set { change { $0.isEligibleForKeeping = newValue } }
    }

    /// A Boolean value that indicates whether a search on the device may find the activity. Stored
    /// only: there is no index on Linux.
    open var isEligibleForSearch: Bool {
        get { state.withLock { $0.isEligibleForSearch } }
        set { change { $0.isEligibleForSearch = newValue } }
    }

    /// A Boolean value that indicates whether the activity may be added to a public index. Stored
    /// only.
    open var isEligibleForPublicIndexing: Bool {
        get { state.withLock { $0.isEligibleForPublicIndexing } }
        set { change { $0.isEligibleForPublicIndexing = newValue } }
    }

    /// A Boolean value that indicates whether the system may suggest the activity. Stored only.
    open var isEligibleForPrediction: Bool {
        get { state.withLock { $0.isEligibleForPrediction } }
        set { change { $0.isEligibleForPrediction = newValue } }
    }

    /// Identifies the content of the activity, so that the app on the other device can find the
    /// window for it. Up to 1,024 bytes.
    open var targetContentIdentifier: String? {
        get { state.withLock { $0.targetContentIdentifier } }
        set { change { $0.targetContentIdentifier = newValue } }
    }

    /// The identifier in the system's stores, of which there are none on Linux. Not sent to other
    /// devices.
    open var persistentIdentifier: NSUserActivityPersistentIdentifier? {
        get { state.withLock { $0.persistentIdentifier } }
        set { change { $0.persistentIdentifier = newValue } }
    }

    /// The delegate that is notified about the activity. A weak reference.
    open var delegate: (any NSUserActivityDelegate)? {
        get { delegateLock.withLock { storedDelegate } }
        set {
            delegateLock.withLock {
                storedDelegate = newValue
                hasDelegate = newValue != nil
            }
        }
    }

    // MARK: Lifecycle

    /// Makes this the activity that the user is engaged in. It is offered to other devices in place
    /// of the app's former current activity. One save is requested from the app after this returns.
    /// Does nothing if the activity is already current or was invalidated.
    open func becomeCurrent() {
        guard !isInvalid else { return }
        application.becomeCurrent(self)
    }

    /// Ends the engagement: the activity is no longer offered, until it becomes current again.
    open func resignCurrent() {
        application.resignCurrent(key)
    }

    /// Ends the activity permanently. The object can still be read, but can never become current
    /// again.
    open func invalidate() {
        state.withLock { $0.isInvalid = true }
        application.activityEnded(key)
    }

    // MARK: Equality

    /// Returns whether both objects are the same activity.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSUserActivity else { return false }
        return other.key == key
    }

    /// The hash of the identity.
    open override var hash: Int { key.hashValue }

    /// The type and the title, for debugging.
    open override var description: String {
        let state = snapshot
        return "<NSUserActivity \(state.type)\(state.title.map { " \"\(VisibleText.escape($0))\"" } ?? "")>"
    }

    // MARK: Internal

    /// True if a delegate was set and has since been released.
    var hasLostDelegate: Bool { delegateLock.withLock { hasDelegate && storedDelegate == nil } }

    var snapshot: ActivityState {
        checkUserInfo()
        return state.withLock { $0 }
    }

    private var isInvalid: Bool { state.withLock { $0.isInvalid } }

    private func change(_ body: (inout ActivityState) -> Void) {
        state.withLock { body(&$0) }
        application.activityChanged(key)
    }

    private func changeUserInfo(_ body: (inout ActivityState) -> Void) {
        checkUserInfo()
        state.withLock { body(&$0) }
        application.userInfoChanged(key)
    }

    /// Returns `userInfo` for an in-place change. Other threads read the former value until the
    /// change has ended.
    private func takeUserInfo() -> [AnyHashable: Any]? {
        let changed = userInfoLock.withLock {
            defer { changedUserInfo = nil }
            return changedUserInfo
        }
        return changed ?? UserInfoBridge.dictionary(state.withLock { $0.userInfo })
    }

    /// Moves an in-place change to the state. Ends the process if a value cannot be handed off.
    private func checkUserInfo() {
        userInfoLock.withLock {
            guard let dictionary = changedUserInfo else { return }
            changedUserInfo = nil
            let members = Self.members(dictionary)
            state.withLock { $0.setUserInfo(members) }
        }
    }

    /// Replaces the members of `userInfo` that are a typed payload. Those of the former payload are
    /// removed.
    func setTypedPayload(_ members: UserInfoMembers) {
        changeUserInfo {
            $0.userInfo.remove($0.typedPayloadKeys)
            $0.userInfo.merge(members)
            $0.typedPayloadKeys = members.pairs.map(\.key)
        }
    }

    /// Stores results about the files that `userInfo` names. Any thread.
    func updateDocuments(_ answers: [String: DocumentTable.Answer]) {
        state.withLock { $0.documents.update(answers) }
    }

    /// Returns the path of a document that was offered to other devices under a number, or nil if
    /// the number is unknown.
    func documentPath(_ number: Int) -> String? { state.withLock { $0.documents.path(number) } }

    /// Returns the calls that have the app bring the activity up to date.
    func save() -> [CallbackStep] {
        checkUserInfo()
        state.withLock {
            $0.needsSave = false
            $0.documents.invalidate()
        }
        let responders = responders.all
        guard !responders.isEmpty else { return [notify(.willSave)] }
        state.withLock { $0.emptyUserInfo() }
        let restore = CallbackStep.callbackQueue {
            self.checkUserInfo()
            self.state.withLock { $0.restoreUnwrittenUserInfo() }
        }
        return responders.map { $0.update(self) } + [restore, notify(.willSave), application.notify(.didUpdate(self))]
    }

    /// Records a piece of advice. Returns whether the app has not yet received advice of this kind;
    /// false for nil.
    func isNew(_ advice: String?) -> Bool { state.withLock { $0.isNew(advice) } }

    /// Adds a responder, which is called at each save.
    func add(_ responder: Responder) { responders.add(responder) }

    /// Removes a responder.
    /// - Returns: whether it was the last one.
    func remove(_ responder: ObjectIdentifier) -> Bool { responders.remove(responder) }

    private static func members(_ dictionary: [AnyHashable: Any]) -> UserInfoMembers {
        do throws(ActivityError) {
            return try UserInfoBridge.members(of: dictionary)
        } catch {
            misuse("\(error)")
        }
    }
}
