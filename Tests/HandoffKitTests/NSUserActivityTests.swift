import Foundation
import HandoffKit
import Testing

@Suite struct NSUserActivityTests {
    private let activity = NSUserActivity(activityType: "com.example.editing")

    @Test func `the defaults are Apple's`() {
        #expect(activity.activityType == "com.example.editing")
        #expect(activity.needsSave)
        #expect(activity.isEligibleForHandoff && activity.isEligibleForKeeping == nil)
        #expect(activity.userInfo?.isEmpty == true)
        #expect(activity.title == nil && activity.webpageURL == nil && activity.referrerURL == nil)
        #expect(activity.expirationDate == nil && activity.requiredUserInfoKeys == nil && activity.keywords.isEmpty)
        #expect(activity.targetContentIdentifier == nil && activity.persistentIdentifier == nil)
        #expect(!activity.supportsContinuationStreams && !activity.isEligibleForSearch)
        #expect(!activity.isEligibleForPublicIndexing && !activity.isEligibleForPrediction)
        #expect(activity.delegate == nil)
    }

    @Test func `setters never change needsSave`() {
        activity.needsSave = false
        activity.title = "title"
        activity.userInfo = ["a": 1]
        activity.webpageURL = URL(string: "HTTPS://example.org/")
        activity.referrerURL = URL(string: "https://example.org/from")
        activity.expirationDate = Date(timeIntervalSinceReferenceDate: 1)
        activity.requiredUserInfoKeys = ["a"]
        activity.keywords = ["k"]
        activity.supportsContinuationStreams = true
        activity.isEligibleForHandoff = false
        activity.isEligibleForKeeping = false
        activity.isEligibleForSearch = true
        activity.isEligibleForPublicIndexing = true
        activity.isEligibleForPrediction = true
        activity.targetContentIdentifier = "target"
        activity.persistentIdentifier = "persistent"
        #expect(!activity.needsSave)
        #expect(activity.title == "title" && activity.keywords == ["k"] && activity.requiredUserInfoKeys == ["a"])
        #expect(activity.webpageURL?.host == "example.org" && activity.referrerURL?.path == "/from")
        #expect(activity.expirationDate == Date(timeIntervalSinceReferenceDate: 1))
        #expect(activity.supportsContinuationStreams && !activity.isEligibleForHandoff && activity.isEligibleForSearch)
        #expect(activity.isEligibleForPublicIndexing && activity.isEligibleForPrediction)
        #expect(activity.isEligibleForKeeping == false)
        #expect(activity.targetContentIdentifier == "target" && activity.persistentIdentifier == "persistent")
    }

    @Test func `nil user info reads back empty`() {
        activity.userInfo = ["a": 1]
        activity.userInfo = nil
        #expect(activity.userInfo?.isEmpty == true)
    }

    @Test func `activities are equal only to themselves`() {
        let other = NSUserActivity(activityType: "com.example.editing")
        #expect(activity == activity)
        #expect(activity != other)
        #expect(Set([activity, other, activity]).count == 2)
    }

    @Test func `the delegate is a weak reference`() {
        final class Delegate: HandoffActivityDelegate {}
        var delegate: Delegate? = Delegate()
        activity.delegate = delegate
        #expect(activity.delegate === delegate)
        delegate = nil
        #expect(activity.delegate == nil)
    }

    @Test func `saved activities are deleted immediately`() async {
        await NSUserActivity.deleteAllSavedUserActivities()
        await NSUserActivity.deleteSavedUserActivities(withPersistentIdentifiers: ["a"])
        await confirmation(expectedCount: 2) { done in
            NSUserActivity.deleteAllSavedUserActivities { done() }
            NSUserActivity.deleteSavedUserActivities(withPersistentIdentifiers: ["a"]) { done() }
        }
    }

    @Test func `the constants are Apple's`() {
        #expect(NSUserActivityTypeBrowsingWeb == "NSUserActivityTypeBrowsingWeb")
        #expect(NSUserActivityDocumentURLKey == "NSUserActivityDocumentURLKey")
        #expect(CocoaError.Code.userActivityHandoffFailed.rawValue == 4608)
        #expect(CocoaError.Code.userActivityConnectionUnavailable.rawValue == 4609)
        #expect(CocoaError.Code.userActivityRemoteApplicationTimedOut.rawValue == 4610)
        #expect(CocoaError.Code.userActivityHandoffUserInfoTooLarge.rawValue == 4611)
        #expect(CocoaError.Code.featureUnsupported.rawValue == 3328)
    }

    @Test func `without a type an activity has the first one declared`() {
        let types = HandoffApplication.shared.activityTypes
        HandoffApplication.shared.activityTypes = ["com.example.first", "com.example.second"]
        defer { HandoffApplication.shared.activityTypes = types }
        #expect((ObsoleteForms.self as any ObsoleteInitialiser.Type).make().activityType == "com.example.first")
    }

    @Test func `without a declared type the process ends`() async {
        await #expect(processExitsWith: .failure) {
            _ = (ObsoleteForms.self as any ObsoleteInitialiser.Type).make()
        }
    }

    @Test func `an activity is created through its metatype`() {
        let kind: NSUserActivity.Type = NSUserActivity.self
        let activity = kind.init(activityType: "com.example.reading")
        #expect(activity.activityType == "com.example.reading" && type(of: activity) == NSUserActivity.self)
    }

    @MainActor @Test func optionalCallsOfDelegatesCallThem() {
        let delegate = OptionalDelegate()
        delegate.call(NSUserActivity(activityType: "com.example.reading"))
        #expect(delegate.calls == ["will", "continue", "willSave"])
    }

    @MainActor private final class OptionalDelegate: UIApplicationDelegate, NSUserActivityDelegate {
        var calls: [String] = []

        func call(_ activity: NSUserActivity) {
            let delegate: (any UIApplicationDelegate)? = self
            let application = UIApplication.shared
            #expect(
                delegate?.application?(application, willContinueUserActivityWithType: activity.activityType) == true)
            #expect(delegate?.application?(application, continue: activity) { _ in } == true)
            activity.delegate = self
            activity.delegate?.userActivityWillSave?(activity)
        }

        func application(
            _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
        ) -> Bool {
            calls.append("will")
            return true
        }

        func application(
            _ application: UIApplication, continue userActivity: NSUserActivity,
            restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
        ) -> Bool {
            calls.append("continue")
            return true
        }

        func userActivityWillSave(_ userActivity: NSUserActivity) { calls.append("willSave") }
    }

    @Test func `an empty type ends the process`() async {
        await #expect(processExitsWith: .failure) { _ = NSUserActivity(activityType: "") }
    }

    @Test func `a scheme other than HTTP ends the process`() async {
        await #expect(processExitsWith: .failure) {
            NSUserActivity(activityType: "a.b").webpageURL = URL(string: "ftp://example.org/")
        }
    }

    @Test func `a wrong type in user info ends the process`() async {
        await #expect(processExitsWith: .failure) {
            NSUserActivity(activityType: "a.b").userInfo = ["own": Pipe()]
        }
    }

    @Test func `a wrong type that is set in place ends the process once it is read`() async {
        await #expect(processExitsWith: .failure) {
            let activity = NSUserActivity(activityType: "a.b")
            activity.userInfo?["own"] = Pipe()
            _ = activity.userInfo
        }
    }

    @Test func `streams of an activity that is not continued are refused`() async {
        let error = await #expect(throws: NSError.self) { _ = try await activity.continuationByteStream() }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == 3328)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? HandoffError)?.reason == "notContinued")
    }
}

/// Calls the deprecated initializer without a warning at each build.
private protocol ObsoleteInitialiser {
    static func make() -> NSUserActivity
}

private enum ObsoleteForms: ObsoleteInitialiser {
    @available(*, deprecated, message: "As the initialiser that it calls")
    static func make() -> NSUserActivity { NSUserActivity() }
}
