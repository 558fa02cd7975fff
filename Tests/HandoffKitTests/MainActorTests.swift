import Dispatch
import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import Testing

// An app with main-actor code, like apps for Apple's systems. The simulated daemon has a different
// thread, and so does the callback queue if a test specifies it.

private let editing = "com.example.editing"

private class Page: UIResponder, NSUserActivityDelegate {
    let kit: KitTest
    var page = 1

    init(_ kit: KitTest) {
        self.kit = kit
        super.init()
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        MainActor.preconditionIsolated()
        activity.addUserInfoEntries(from: ["page": page])
        kit.note("main update")
    }

    override func restoreUserActivityState(_ activity: NSUserActivity) {
        super.restoreUserActivityState(activity)
        page = activity.userInfo?["page"] as? Int ?? 0
        kit.note("main restore \(page)")
    }

    func userActivityWillSave(_ userActivity: NSUserActivity) {
        kit.note("main willSave \(userActivity.userInfo?.count ?? 0)")
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        MainActor.preconditionIsolated()
        kit.note("main wasContinued")
    }
}

/// A nonisolated responder that shares an activity with a main-actor one.
private final class FreePage: HandoffResponder {
    let kit: KitTest

    init(_ kit: KitTest) { self.kit = kit }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        dispatchPrecondition(condition: .onQueue(kit.queue))
        activity.addUserInfoEntries(from: ["free": true])
        kit.note("free update")
    }

    override func restoreUserActivityState(_ activity: NSUserActivity) {
        dispatchPrecondition(condition: .onQueue(kit.queue))
        kit.note("free restore")
    }
}

private final class AppDelegate: UIResponder, UIApplicationDelegate {
    let page: Page
    let free: FreePage

    init(_ page: Page, _ free: FreePage) {
        self.page = page
        self.free = free
    }

    func application(
        _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        page.kit.note("main will")
        return true
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        MainActor.preconditionIsolated()
        page.kit.note("main continue \(userActivity.title ?? "-")")
        restorationHandler([free, page])
        return true
    }

    func application(
        _ application: UIApplication, didFailToContinueUserActivityWithType userActivityType: String, error: any Error
    ) {
        page.kit.note("main fail \((error as NSError).code)")
    }

    func application(_ application: UIApplication, didUpdate userActivity: NSUserActivity) {
        page.kit.note("main didUpdate \(userActivity.userInfo?.count ?? 0)")
    }
}

private final class MacDelegate: NSApplicationDelegate {
    let page: Page

    init(_ page: Page) { self.page = page }

    func application(
        _ application: NSApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]) -> Void
    ) -> Bool {
        restorationHandler([page])
        return true
    }
}

private final class SceneDelegate: UIResponder, UISceneDelegate {
    let kit: KitTest

    init(_ kit: KitTest) { self.kit = kit }

    func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String) {
        MainActor.preconditionIsolated()
        kit.note("main scene will")
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        kit.note("main scene continue \(userActivity.title ?? "-")")
    }

    func scene(_ scene: UIScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error) {
        kit.note("main scene fail \((error as NSError).code)")
    }

    func scene(_ scene: UIScene, didUpdate userActivity: NSUserActivity) { kit.note("main scene didUpdate") }
}

@Suite @MainActor struct MainActorTests {
    private let kit: KitTest
    private let type: ActivityType

    init() throws {
        kit = try KitTest()
        type = try #require(ActivityType(editing))
    }

    nonisolated private func id(_ byte: UInt8) -> ContinuationID {
        ContinuationID(checked: Array(repeating: byte, count: 16))
    }

    /// Delivers an activity, announced or not.
    nonisolated private func arrives(_ byte: UInt8, announced: Bool = true) {
        if announced { kit.event(.willContinue(id(byte), type, Sample.origin)) }
        kit.event(.continue(id(byte), Sample.continued(type: type, title: "one", userInfo: ["page": 5])))
    }

    /// Reports that an announced activity fails to arrive.
    nonisolated private func fails(_ byte: UInt8) {
        kit.event(.willContinue(id(byte), type, Sample.origin))
        kit.event(.didFail(id(byte), type, .ownerGone(device: "laptop")))
    }

    /// Returns the callback queue: the main queue or another one.
    private func queue(isMain: Bool) -> DispatchQueue { isMain ? .main : kit.queue }

    @Test(arguments: [true, false]) func responders(isMain: Bool) async throws {
        let application = kit.application(callbackQueue: queue(isMain: isMain))
        let page = Page(kit)
        let delegate = AppDelegate(page, FreePage(kit))
        application.delegate = delegate
        let activity = NSUserActivity(activityType: editing, application: application)
        activity.userInfo = ["old": 1]
        activity.delegate = page
        page.userActivity = activity
        try await aside { [kit] in
            try kit.run { $0.contains("BecomeCurrent") && $0.contains("main didUpdate 1") }
            kit.event(.continued(kit.lastID, by: Sample.origin))
            try kit.run(until: "main wasContinued")
        }
        let main = kit.story.filter { $0.hasPrefix("main") }
        #expect(main == ["main update", "main willSave 1", "main didUpdate 1", "main wasContinued"])
        page.userActivity = nil
        try await aside { [kit] in try kit.run(until: "ResignCurrent") }
        withExtendedLifetime(delegate) {}
    }

    @Test func respondersOfBothKindsShareAnActivity() async throws {
        let application = kit.application()
        let (free, page) = (FreePage(kit), Page(kit))
        let activity = NSUserActivity(activityType: editing, application: application)
        activity.delegate = page
        kit.queue.suspend()
        free.userActivity = activity
        page.userActivity = activity
        kit.queue.resume()
        try await aside { [kit] in
            try kit.run { $0.contains("BecomeCurrent") && $0.contains("main willSave 2") }
            // The save ends two steps after its note. A running save would also serve the daemon's
            // request.
            DispatchQueue.main.sync {}
            kit.drainQueue()
            kit.note("again")
            activity.needsSave = true
            kit.event(.save(kit.lastID))
            try kit.run { $0.contains { $0.hasPrefix("AnswerSave") } && $0.count { $0 == "main willSave 2" } == 2 }
        }
        let notes = kit.story.filter { $0.hasPrefix("main") || $0.hasPrefix("free") || $0.hasPrefix("Answer") }
        #expect(
            notes.suffix(4) == ["free update", "main update", "main willSave 2", "AnswerSave"], "\(notes)")
    }

    @Test func theLastResponderEndsTheActivity() async throws {
        let application = kit.application(callbackQueue: .main)
        var page: Page? = Page(kit)
        page?.userActivity = NSUserActivity(activityType: editing, application: application)
        try await aside { [kit] in try kit.run { $0.contains("BecomeCurrent") && $0.contains("main update") } }
        page = nil
        try await aside { [kit] in try kit.run(until: "Invalidate") }
    }

    @Test(arguments: [true, false]) func anApplicationsDelegate(isMain: Bool) async throws {
        let application = kit.application(types: [editing], callbackQueue: queue(isMain: isMain))
        let page = Page(kit)
        let delegate = AppDelegate(page, FreePage(kit))
        application.delegate = delegate
        if isMain {
            let mac = MacDelegate(page)
            application.delegate = mac
            try await aside { [kit] in
                try kit.run(until: "Attach")
                arrives(9, announced: false)
                try kit.run { $0.contains("AnswerContinue true") && $0.contains("main restore 5") }
            }
            return withExtendedLifetime(mac) {}
        }
        try await aside { [kit] in
            try kit.run(until: "Attach")
            arrives(1)
            fails(2)
            try kit.run {
                $0.contains("main fail 4608") && $0.contains("main restore 5") && $0.contains("free restore")
                    && $0.contains("AnswerContinue true")
            }
        }
        #expect(page.page == 5)
        let received = kit.story.filter { $0.hasPrefix("main") && !$0.hasPrefix("main restore") }
        #expect(received == ["main will", "main continue one", "main will", "main fail 4608"])
        withExtendedLifetime(delegate) {}
    }

    @Test(arguments: [true, false]) func aScenesDelegate(isMain: Bool) async throws {
        let application = kit.application(types: [editing], callbackQueue: queue(isMain: isMain))
        let delegate = SceneDelegate(kit)
        let scene = UIScene(delegate: delegate)
        application.activeScene = scene
        scene.userActivity = NSUserActivity(activityType: editing, application: application)
        try await aside { [kit] in
            try kit.run { $0.contains("BecomeCurrent") && $0.contains("main scene didUpdate") }
            arrives(1)
            fails(2)
            try kit.run { $0.contains("main scene fail 4608") && $0.contains("AnswerContinue true") }
        }
        #expect(
            kit.story.filter { $0.hasPrefix("main") } == [
                "main scene didUpdate", "main scene will", "main scene continue one", "main scene will",
                "main scene fail 4608",
            ])
    }

    @Test(arguments: [true, false]) func handlers(isMain: Bool) async throws {
        let application = kit.application(callbackQueue: queue(isMain: isMain))
        // Main-actor state can be accessed without annotations.
        let page = Page(kit)
        application.onWillContinue(editing) { page.kit.note("main will") }
        application.onContinue(editing) {
            MainActor.preconditionIsolated()
            page.page = $0.userInfo?["page"] as? Int ?? 0
            page.kit.note("main continue")
        }
        application.onFail(editing) { page.kit.note("main fail \(($0 as NSError).code)") }
        try await aside { [kit] in
            try kit.run { [kit] _ in kit.daemon?.parameters(of: "Attach")?["types"] == .array([.string(editing)]) }
            arrives(1)
            fails(2)
            try kit.run { $0.contains("main fail 4608") && $0.contains("AnswerContinue true") }
        }
        #expect(page.page == 5)
        #expect(
            kit.story.filter { $0.hasPrefix("main") } == ["main will", "main continue", "main will", "main fail 4608"])
    }

    @Test func aHandlerWithItsOwnQueue() async throws {
        let application = kit.application(callbackQueue: .main)
        application.onContinue(editing, queue: kit.queue) { [kit] _ in
            dispatchPrecondition(condition: .onQueue(kit.queue))
            kit.note("own continue")
        }
        try await aside { [kit] in
            try kit.run(until: "Attach")
            arrives(1, announced: false)
            try kit.run { $0.contains("own continue") && $0.contains("AnswerContinue true") }
        }
        let end = try #require(kit.story.firstIndex(of: "AnswerContinue true"))
        #expect(kit.story[..<end].contains("own continue"), "handled after the handler was called")
    }

    /// The main thread belongs to the test here, and services no queue in the meantime.
    @Test func aMainQueueThatIsNotServicedIsReportedOnce() throws {
        let application = kit.application(types: [editing])
        application.configuration.mainQueueTimeout = .zero
        application.onDiagnostic = { [kit] _, message, _ in kit.note(message.prefix { $0 != "," }.description) }
        application.onContinue(editing) { _ in }
        try kit.run(until: "Attach")
        arrives(1)
        try kit.run(until: "callbacks wait for the main queue")
        arrives(2)
        application.delegate = NotingApplicationDelegate(kit)
        try kit.run { story in
            story.contains { $0.hasPrefix("the application's delegate has been released") }
        }
        #expect(kit.story.count { $0 == "callbacks wait for the main queue" } == 1)
    }

    /// The main thread belongs to the test here, and services no queue in the meantime.
    @Test func nonisolatedCallbacksNeedNoMainQueue() throws {
        let application = kit.application(types: [editing])
        let free = FreePage(kit)
        free.userActivity = NSUserActivity(activityType: editing, application: application)
        try kit.run { [kit] _ in kit.sent["userInfo"]?.object?["free"] == true }
        arrives(1)
        try kit.run(until: "AnswerContinue false")
        let delegate = NotingApplicationDelegate(kit) { [free] _, handler in
            handler([free])
            return true
        }
        application.delegate = delegate
        arrives(2)
        try kit.run { $0.contains("AnswerContinue true") && $0.contains("free restore") }
        withExtendedLifetime(delegate) {}
    }
}
