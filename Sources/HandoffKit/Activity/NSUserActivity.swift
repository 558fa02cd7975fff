public import Foundation
import HandoffControl
import HandoffDocuments
import HandoffJSON
import HandoffModel
import LoopIO

/// What the user is doing, in a form that another device can continue. Follows Apple's class of the same name, which Foundation
/// has not on Linux.
///
/// Everything may be called from any thread. Whoever makes an activity keeps it: when the last reference goes it ends as by
/// `invalidate()`.
///
/// Unchecked: the state is behind one lock, the list of responders behind another one, the reference to the
/// delegate behind a third, changes of `userInfo` in place behind a fourth; none is held while something is called.
open class NSUserActivity: NSObject, @unchecked Sendable {
    /// What identifies it: two objects are equal when these are.
    let key = UUID()
    /// Whose activity it is.
    let application: HandoffApplication
    /// Set when it came from another device.
    let continuation: Continuation?

    private let state: Locked<ActivityState>
    /// `userInfo` as the app has changed it in place: checked, and moved to the state, once somebody reads it. Locked before the state.
    private var changedUserInfo: [AnyHashable: Any]?
    private let userInfoLock = NSLock()
    private let delegateLock = NSLock()
    /// Not kept as an object that is cast: a conformance that belongs to the main actor is found by a cast there alone.
    private weak var storedDelegate: (any NSUserActivityDelegate)?
    private var hasDelegate = false
    private let responders = ResponderList()

    /// Makes an activity of the app's shared `HandoffApplication`.
    /// - Parameter activityType: what kind of activity, in reverse-DNS form: 1 to 255 visible ASCII characters. An empty
    ///   one ends the process, as it raises an exception on Apple's systems.
    public init(activityType: String) {
        state = Self.state(of: activityType)
        application = .shared
        continuation = nil
        super.init()
    }

    /// Makes an activity of the first type that the app declares in `NSUserActivityTypes`; without one the process ends.
    @available(*, deprecated, message: "Use init(activityType:)")
    public convenience override init() {
        guard let type = HandoffApplication.shared.activityTypes.first else {
            misuse("NSUserActivity() needs NSUserActivityTypes in the app's Info.plist")
        }
        self.init(activityType: type, application: .shared)
    }

    /// Makes an activity of an application object of its own, for tests and for processes that are several apps.
    public init(activityType: String, application: HandoffApplication) {
        state = Self.state(of: activityType)
        self.application = application
        continuation = nil
        super.init()
    }

    /// An activity that came from another device.
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

    // MARK: What it says

    /// What kind of activity it is.
    public var activityType: String { state.withLock { $0.type } }

    /// What the user is doing, in words; shown on the other device. Of more than 1,024 bytes the beginning travels.
    open var title: String? {
        get { state.withLock { $0.title } }
        set { change { $0.title = newValue } }
    }

    /// What the other app needs to continue: about 3 KB at most, for a quick handoff.
    ///
    /// Keys and values are `String`, numbers, `Bool`, `Data`, `Date`, `URL`, `UUID`, `NSNull`, and arrays, dictionaries and sets
    /// of these, or their Objective-C classes. Anything else ends the process, as it raises an exception on Apple's systems;
    /// `check(userInfo:)` finds it before. A copy is taken. It reads back as an empty dictionary after nil was set. Numbers read
    /// back as `NSNumber`, so that `as? Int` and `as? Double` do what they do on Apple's systems; as keys and in sets they are
    /// Swift's own, so that they are found. The `file:` URL of a document
    /// arrives pointing at the same document, or at a place where `startAccessingSecurityScopedResource()` fetches it. A URL that
    /// is relative to another one reads back, and arrives, as the absolute URL that both are together.
    ///
    /// Setting it does not set `needsSave`. A member that is set in place, as in `userInfo?["page"] = 3`, is checked when the activity is next
    /// read or sent.
    open var userInfo: [AnyHashable: Any]? {
        get { UserInfoBridge.dictionary(snapshot.userInfo) }
        set {
            let members = Self.members(newValue ?? [:])
            changeUserInfo { $0.setUserInfo(members) }
        }
        _modify {
            // In place, so that many members, one by one, cost no more than all of them together.
            var dictionary = takeUserInfo()
            defer {
                userInfoLock.withLock { changedUserInfo = dictionary ?? [:] }
                application.userInfoChanged(key)
            }
            yield &dictionary
        }
    }

    /// Adds members to `userInfo`; the new values win. Does not set `needsSave`.
    /// - Parameter otherDictionary: checked as `userInfo` is.
    open func addUserInfoEntries(from otherDictionary: [AnyHashable: Any]) {
        let members = Self.members(otherDictionary)
        changeUserInfo { $0.userInfo.merge(members) }
    }

    /// Checks whether a dictionary may become a `userInfo` that travels: types of the values, nesting, number of members, and the size
    /// of all of it, 960 KiB with the rest of the activity. What is refused here is not published either: then `onDiagnostic` of the
    /// application gets the same error. How large a payload should be, and other devices take, is another matter: see `userInfo`.
    /// - Throws: `CocoaError` 4608 with a description that names the path of the value, or 4611 when all of it is too large.
    public static func check(userInfo: [AnyHashable: Any]) throws {
        do throws(ActivityError) {
            let content = ActivityContent(
                type: .browsingWeb, userInfo: try UserInfoBridge.members(of: userInfo).tagged)
            try content.validate(maxPayload: Limits.payloadMaximum)
        } catch {
            throw HandoffError(error).cocoaError
        }
    }

    /// The keys of `userInfo` without which the activity cannot be continued: on the other device it fails when one is missing.
    open var requiredUserInfoKeys: Set<String>? {
        get { state.withLock { $0.requiredUserInfoKeys } }
        set { change { $0.requiredUserInfoKeys = newValue } }
    }

    /// Whether there is news that was not saved; true at first. Setting it while the activity is current has the app asked to
    /// save, by and by: set it at every step of the user.
    open var needsSave: Bool {
        get { state.withLock { $0.needsSave } }
        set {
            // Set at every step of the user, of which only the first after a save is anything new.
            let isNew = state.withLock { state in
                defer { state.needsSave = newValue }
                return state.needsSave != newValue
            }
            if isNew { application.activityChanged(key) }
        }
    }

    /// A web page that continues the activity where no app does. http and https only: another scheme ends the process, as it
    /// raises an exception on Apple's systems.
    open var webpageURL: URL? {
        get { state.withLock { $0.webpageURL } }
        set {
            if let newValue, !["http", "https"].contains(newValue.scheme?.lowercased()) {
                misuse("webpageURL must be an http or https URL, not '\(newValue.absoluteString)'")
            }
            change { $0.webpageURL = newValue }
        }
    }

    /// The page that led to `webpageURL`. Stays on the device.
    open var referrerURL: URL? {
        get { state.withLock { $0.referrerURL } }
        set { change { $0.referrerURL = newValue } }
    }

    /// When the activity ends by itself; nil: a day after the app last said something of it, or as long as the device's user has set.
    /// `Date.distantFuture` is never.
    // Of Apple's type.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var expirationDate: Date! {
        get { state.withLock { $0.expirationDate } }
        set { change { $0.expirationDate = newValue } }
    }

    /// Words by which a search could find it. Stays on the device.
    open var keywords: Set<String> {
        get { state.withLock { $0.keywords } }
        set { change { $0.keywords = newValue } }
    }

    /// Whether the app that continues the activity may ask for streams; false at first. May be changed at any time.
    open var supportsContinuationStreams: Bool {
        get { state.withLock { $0.supportsContinuationStreams } }
        set { change { $0.supportsContinuationStreams = newValue } }
    }

    /// Whether the activity is offered to other devices; true at first.
    open var isEligibleForHandoff: Bool {
        get { state.withLock { $0.isEligibleForHandoff } }
        set { change { $0.isEligibleForHandoff = newValue } }
    }

    /// Whether a search on the device may find it. Stored only: there is no index on Linux.
    open var isEligibleForSearch: Bool {
        get { state.withLock { $0.isEligibleForSearch } }
        set { change { $0.isEligibleForSearch = newValue } }
    }

    /// Whether a public index may have it. Stored only.
    open var isEligibleForPublicIndexing: Bool {
        get { state.withLock { $0.isEligibleForPublicIndexing } }
        set { change { $0.isEligibleForPublicIndexing = newValue } }
    }

    /// Whether the system may suggest it. Stored only.
    open var isEligibleForPrediction: Bool {
        get { state.withLock { $0.isEligibleForPrediction } }
        set { change { $0.isEligibleForPrediction = newValue } }
    }

    /// Which content it is about, by which the app on the other device finds the window for it. Up to 1,024 bytes.
    open var targetContentIdentifier: String? {
        get { state.withLock { $0.targetContentIdentifier } }
        set { change { $0.targetContentIdentifier = newValue } }
    }

    /// Its name in stores of the system, of which there are none on Linux. Stays on the device.
    open var persistentIdentifier: NSUserActivityPersistentIdentifier? {
        get { state.withLock { $0.persistentIdentifier } }
        set { change { $0.persistentIdentifier = newValue } }
    }

    /// Who is told what happens to the activity; not kept.
    open var delegate: (any NSUserActivityDelegate)? {
        get { delegateLock.withLock { storedDelegate } }
        set {
            delegateLock.withLock {
                storedDelegate = newValue
                hasDelegate = newValue != nil
            }
        }
    }

    // MARK: Its life

    /// Makes it what the user is engaged in: it is offered to the other devices, and the activity of this app that was current is
    /// so no longer. The app is asked to save once, after this has returned. Does nothing when it is current, or was invalidated.
    open func becomeCurrent() {
        guard !isInvalid else { return }
        application.becomeCurrent(self)
    }

    /// Ends the engagement: the activity is offered no more, until it becomes current again.
    open func resignCurrent() {
        application.resignCurrent(key)
    }

    /// Ends the activity for good. The object can still be read, and never becomes current again.
    open func invalidate() {
        state.withLock { $0.isInvalid = true }
        application.activityEnded(key)
    }

    // MARK: Equality

    /// Whether both are the same activity.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSUserActivity else { return false }
        return other.key == key
    }

    /// The hash of what identifies it.
    open override var hash: Int { key.hashValue }

    /// The type and the title, for a debugger.
    open override var description: String {
        let state = snapshot
        return "<NSUserActivity \(state.type)\(state.title.map { " \"\(VisibleText.escape($0))\"" } ?? "")>"
    }

    // MARK: Inside

    /// Whether a delegate was set and has gone since.
    var hasLostDelegate: Bool { delegateLock.withLock { hasDelegate && storedDelegate == nil } }

    /// All that it says now.
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

    /// `userInfo` for a change in place. Other threads read what it was before until the change has ended.
    private func takeUserInfo() -> [AnyHashable: Any]? {
        let changed = userInfoLock.withLock {
            defer { changedUserInfo = nil }
            return changedUserInfo
        }
        return changed ?? UserInfoBridge.dictionary(state.withLock { $0.userInfo })
    }

    /// Moves what was changed in place to the state; ends the process for a value that cannot travel.
    private func checkUserInfo() {
        userInfoLock.withLock {
            guard let dictionary = changedUserInfo else { return }
            changedUserInfo = nil
            let members = Self.members(dictionary)
            state.withLock { $0.setUserInfo(members) }
        }
    }

    /// Replaces the members of `userInfo` that are a typed payload; those that the former one had are gone.
    func setTypedPayload(_ members: UserInfoMembers) {
        changeUserInfo {
            $0.userInfo.remove($0.typedPayloadKeys)
            $0.userInfo.merge(members)
            $0.typedPayloadKeys = members.pairs.map(\.key)
        }
    }

    /// Takes what is known of files that `userInfo` names. Any thread.
    func learned(_ answers: [String: DocumentTable.Answer]) {
        state.withLock { $0.documents.learned(answers) }
    }

    /// The path of a document that was offered to other devices under a number; nil for any other number.
    func documentPath(_ number: Int) -> String? { state.withLock { $0.documents.path(number) } }

    /// What has to be called for the app to bring the activity up to date.
    func save() -> [CallbackStep] {
        checkUserInfo()
        state.withLock {
            $0.needsSave = false
            $0.documents.outdate()
        }
        let responders = responders.all
        guard !responders.isEmpty else { return [tell(.willSave)] }
        state.withLock { $0.emptyUserInfo() }
        let restore = CallbackStep.callbackQueue {
            self.checkUserInfo()
            self.state.withLock { $0.restoreUnwrittenUserInfo() }
        }
        return responders.map { $0.update(self) } + [restore, tell(.willSave), application.tell(.didUpdate(self))]
    }

    /// Whether the app has not received advice of this kind; nil when there is none.
    func isNew(_ advice: String?) -> Bool { state.withLock { $0.isNew(advice) } }

    /// Has a responder asked at each save.
    func add(_ responder: Responder) { responders.add(responder) }

    /// A responder is asked no more.
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
