import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// An application delegate that notes its calls, and handles an activity as the test requires.
final class NotingApplicationDelegate: HandoffApplicationDelegate, @unchecked Sendable {
    typealias Continue = (NSUserActivity, @escaping ([any NSUserActivityRestoring]?) -> Void) -> Bool

    fileprivate let kit: KitTest
    private let continueActivity: Continue

    init(_ kit: KitTest, _ continueActivity: @escaping Continue = { _, _ in true }) {
        self.kit = kit
        self.continueActivity = continueActivity
    }

    func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        kit.note("will \(userActivityType)")
        return true
    }

    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool {
        kit.note("continue \(userActivity.title ?? "-")")
        return continueActivity(userActivity, restorationHandler)
    }

    func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {
        let error = error as NSError
        let isCocoas = error.domain == NSCocoaErrorDomain
        kit.note("fail \(userActivityType) \(isCocoas) \(error.code) \(error.localizedDescription)")
    }
}

extension NotingApplicationDelegate {
    func application(_ application: HandoffApplication, didUpdate userActivity: NSUserActivity) {
        kit.note("didUpdate \(userActivity.userInfo?.count ?? 0)")
        userActivity.addUserInfoEntries(from: ["last": true])
    }
}

@Suite struct ContinuingTests {
    private let kit: KitTest
    private let application: HandoffApplication
    private let type: ActivityType

    init() throws {
        kit = try KitTest()
        application = kit.application(types: ["com.example.editing"])
        type = try #require(ActivityType("com.example.editing"))
    }

    /// The app's callbacks, and its replies.
    private var received: [String] { kit.story.filter { $0 != "Attach" } }

    private func attach(_ delegate: NotingApplicationDelegate) throws {
        application.delegate = delegate
        try kit.run(until: "Attach")
    }

    private func content(_ title: String, userInfo: JSONObject = ["page": 3]) -> ContinuedActivity {
        Sample.continued(type: type, title: title, userInfo: userInfo)
    }

    private func id(_ byte: UInt8) -> ContinuationID { ContinuationID(checked: Array(repeating: byte, count: 16)) }

    @Test func `the declared types are attached`() throws {
        try attach(NotingApplicationDelegate(kit))
        #expect(kit.daemon?.parameters(of: "Attach")?["types"] == .array(["com.example.editing"]))
    }

    @Test func `an activity arrives in order and is answered`() throws {
        let seen = Locked<(NSUserActivity, Int?)?>(nil)
        let delegate = NotingApplicationDelegate(kit) { activity, _ in
            let page = activity.userInfo?["page"] as? Int
            seen.withLock { $0 = (activity, page) }
            return true
        }
        try attach(delegate)
        kit.event(.willContinue(id(1), type, Sample.origin))
        kit.event(.continue(id(1), content("Letter")))
        try kit.run(until: "AnswerContinue true")
        #expect(received == ["will com.example.editing", "continue Letter", "AnswerContinue true"])
        #expect(kit.daemon?.parameters(of: "AnswerContinue")?["continuation"] == .string(id(1).hex))
        let (activity, page) = try #require(seen.withLock { $0 })
        #expect(page == 3)
        #expect(activity.activityType == "com.example.editing" && activity.requiredUserInfoKeys == ["page"])
        #expect(activity.webpageURL == URL(string: "https://example.org/draft"))
        withExtendedLifetime(delegate) {}
    }

    @Test(arguments: [true, false])
    func `the app's own activity has the lineage of the one that it continues`(isSame: Bool) throws {
        let seen = Locked<[NSUserActivity]>([])
        let delegate = NotingApplicationDelegate(kit) { [application] activity, _ in
            let own = isSame ? activity : NSUserActivity(activityType: "com.example.editing", application: application)
            if !isSame { own.setContinued(from: activity) }
            seen.withLock { $0 = [activity, own] }
            own.becomeCurrent()
            return true
        }
        try attach(delegate)
        var content = content("Letter")
        content.lineage = Lineage(id: Sample.activityID(9), step: 2)
        kit.event(.continue(id(1), content))
        try kit.run { $0.contains("BecomeCurrent") }
        #expect(kit.sent["lineage"] == content.lineage.map { .object($0.json) })
        withExtendedLifetime(delegate) {}
    }

    @Test func `a refusal is reported too`() throws {
        let delegate = NotingApplicationDelegate(kit) { _, _ in false }
        try attach(delegate)
        kit.event(.continue(id(1), content("Letter")))
        try kit.run(until: "AnswerContinue false")
        withExtendedLifetime(delegate) {}
    }

    @Test func `a failure names cause and device`() throws {
        let delegate = NotingApplicationDelegate(kit)
        try attach(delegate)
        kit.event(.willContinue(id(1), type, Sample.origin))
        kit.event(.didFail(id(1), type, .timedOut(device: "laptop")))
        // A completed continuation causes no further event.
        kit.event(.didFail(id(1), type, .timedOut(device: "laptop")))
        kit.event(.continue(id(2), content("next")))
        try kit.run(until: "AnswerContinue true")
        #expect(
            received.prefix(3) == [
                "will com.example.editing", "fail com.example.editing true 4610 laptop did not answer in time",
                "will com.example.editing",
            ])
        withExtendedLifetime(delegate) {}
    }

    @Test func `the end of the daemon fails pending continuations`() throws {
        let delegate = NotingApplicationDelegate(kit)
        try attach(delegate)
        kit.event(.willContinue(id(1), type, Sample.origin))
        try kit.run(until: "will com.example.editing")
        kit.stopDaemon()
        try kit.run { $0.contains { $0.hasPrefix("fail com.example.editing true 4609 ") && $0.contains("laptop") } }
        withExtendedLifetime(delegate) {}
    }

    @Test func `a payload that cannot be read is a failure`() throws {
        let delegate = NotingApplicationDelegate(kit)
        try attach(delegate)
        kit.event(.willContinue(id(1), type, Sample.origin))
        kit.event(.continue(id(1), content("bad", userInfo: ["page": ["$uuid": "?"]])))
        try kit.run(until: "AnswerContinue false")
        kit.drainQueue()
        kit.event(.willContinue(id(2), type, Sample.origin))
        kit.event(.continue(id(2), content("lacks", userInfo: ["other": 1])))
        try kit.run(until: "AnswerContinue false", times: 2)
        kit.drainQueue()
        try kit.run { $0.count { $0.hasPrefix("fail ") } == 2 }
        #expect(!received.contains { $0.hasPrefix("continue") })
        #expect(received.contains { $0.contains("4608") && $0.contains("laptop") && $0.contains("page") })
        withExtendedLifetime(delegate) {}
    }

    private final class View: HandoffResponder, @unchecked Sendable {
        private let kit: KitTest

        init(_ kit: KitTest) { self.kit = kit }

        override func restoreUserActivityState(_ activity: NSUserActivity) {
            super.restoreUserActivityState(activity)
            kit.note("restore \(activity.title ?? "-")")
        }
    }

    @Test func `the restoration handler works once and at a later time`() throws {
        let view = View(kit)
        let kept = KeptHandler()
        let delegate = NotingApplicationDelegate(kit) { _, handler in
            kept.handler = handler
            return true
        }
        try attach(delegate)
        kit.event(.continue(id(1), content("Letter")))
        try kit.run(until: "AnswerContinue true")
        kept.handler?([view])
        kept.handler?([view])
        try kit.run(until: "restore Letter")
        kit.drainQueue()
        kit.note("end")
        try kit.run(until: "end")
        #expect(received.count { $0 == "restore Letter" } == 1)
        withExtendedLifetime(delegate) {}
    }

    /// A delegate that implements AppKit's form.
    private final class AppKitDelegate: HandoffApplicationDelegate {
        let view: View

        init(_ view: View) { self.view = view }

        func application(
            _ application: NSApplication, continue userActivity: NSUserActivity,
            restorationHandler: @escaping ([any NSUserActivityRestoring]) -> Void
        ) -> Bool {
            restorationHandler([view])
            return true
        }
    }

    @Test func `app kits form is called too`() throws {
        let delegate = AppKitDelegate(View(kit))
        application.delegate = delegate
        try kit.run(until: "Attach")
        kit.event(.continue(id(1), content("Letter")))
        try kit.run { $0.contains("AnswerContinue true") && $0.contains("restore Letter") }
    }

    @Test func `handlers of a type replace the delegate`() throws {
        let delegate = NotingApplicationDelegate(kit)
        application.delegate = delegate
        application.onWillContinue("com.example.scene", queue: kit.queue) { [kit] in kit.note("scene will") }
        application.onContinue("com.example.scene", queue: kit.queue) { [kit] in kit.note("scene \($0.title ?? "-")") }
        application.onFail("com.example.scene", queue: kit.queue) { [kit] in
            kit.note("scene fail \(($0 as NSError).code)")
        }
        let scene = try #require(ActivityType("com.example.scene"))
        try kit.run { [kit] _ in
            // The second one is declared in the session, or with the attachment if the app was not
            // attached yet.
            ["Declare", "Attach"].contains {
                kit.daemon?.parameters(of: $0)?["types"] == .array(["com.example.editing", "com.example.scene"])
            }
        }
        kit.event(.willContinue(id(1), scene, Sample.origin))
        kit.event(.continue(id(1), Sample.continued(type: scene, title: "one", userInfo: ["page": 1])))
        kit.event(.willContinue(id(2), scene, Sample.origin))
        kit.event(.didFail(id(2), scene, .ownerGone(device: "laptop")))
        kit.event(.continue(id(3), content("Letter")))
        try kit.run(until: "AnswerContinue true", times: 2)
        #expect(
            received.filter { !$0.hasPrefix("Answer") && $0 != "Declare" } == [
                "scene will", "scene one", "scene will", "scene fail 4608", "will com.example.editing",
                "continue Letter",
            ])
        withExtendedLifetime(delegate) {}
    }

    @Test func `without a delegate an activity is not handled`() throws {
        application.start()
        try kit.run(until: "Attach")
        kit.event(.continue(id(1), content("Letter")))
        try kit.run(until: "AnswerContinue false")
    }
}

/// A restoration handler that is called later.
private final class KeptHandler: @unchecked Sendable {
    var handler: (([any NSUserActivityRestoring]?) -> Void)?
}
