import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import Testing

/// A scene's delegate that notes what it is told.
private final class SceneDelegate: NSObject, HandoffSceneDelegate, @unchecked Sendable {
    let kit: KitTest

    init(_ kit: KitTest) { self.kit = kit }

    func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String) {
        kit.note("scene will \(userActivityType)")
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        kit.note("scene continue \(userActivity.title ?? "-")")
    }

    func scene(_ scene: UIScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error) {
        kit.note("scene fail \((error as NSError).code)")
    }

    func scene(_ scene: UIScene, didUpdate userActivity: NSUserActivity) { kit.note("scene didUpdate") }
}

/// A scene's delegate that leaves everything out.
final class SilentSceneDelegate: HandoffSceneDelegate {}

@Suite struct SceneTests {
    private let kit: KitTest
    private let application: HandoffApplication
    private let type: ActivityType

    init() throws {
        kit = try KitTest()
        application = kit.application(types: ["com.example.editing"])
        type = try #require(ActivityType("com.example.editing"))
    }

    private func id(_ byte: UInt8) -> ContinuationID { ContinuationID(checked: Array(repeating: byte, count: 16)) }

    private func continued(_ title: String) -> ContinuedActivity {
        Sample.continued(type: type, title: title, userInfo: ["page": 1])
    }

    @Test func `the active scene is told instead of the applications delegate`() throws {
        let delegate = NotingApplicationDelegate(kit)
        application.delegate = delegate
        let sceneDelegate = SceneDelegate(kit)
        application.activeScene = HandoffScene(delegate: sceneDelegate)
        try kit.run(until: "Attach")
        kit.event(.willContinue(id(1), type, Sample.origin))
        kit.event(.continue(id(1), continued("one")))
        kit.event(.willContinue(id(2), type, Sample.origin))
        kit.event(.didFail(id(2), type, .ownerGone(device: "laptop")))
        try kit.run { $0.contains("scene fail 4608") && $0.contains("AnswerContinue true") }
        application.activeScene = nil
        kit.event(.continue(id(3), continued("two")))
        try kit.run(until: "AnswerContinue true", times: 2)
        #expect(
            kit.story.filter { !$0.hasPrefix("A") } == [
                "scene will com.example.editing", "scene continue one", "scene will com.example.editing",
                "scene fail 4608", "will com.example.editing", "continue two",
            ])
        withExtendedLifetime((delegate, sceneDelegate)) {}
    }

    @Test func `a scene is a responder with an activity`() throws {
        let sceneDelegate = SceneDelegate(kit)
        let scene = HandoffScene(delegate: sceneDelegate)
        application.activeScene = scene
        scene.userActivity = NSUserActivity(activityType: "com.example.editing", application: application)
        try kit.run { $0.contains("BecomeCurrent") && $0.contains("scene didUpdate") }
        withExtendedLifetime(sceneDelegate) {}
    }

    @Test func `a scene may leave everything out`() throws {
        let sceneDelegate = SilentSceneDelegate()
        let scene = HandoffScene(delegate: sceneDelegate)
        application.activeScene = scene
        scene.userActivity = NSUserActivity(activityType: "com.example.editing", application: application)
        try kit.run(until: "BecomeCurrent")
        kit.event(.willContinue(id(1), type, Sample.origin))
        kit.event(.didFail(id(1), type, .ownerGone(device: "laptop")))
        kit.event(.continue(id(2), continued("one")))
        try kit.run(until: "AnswerContinue true")
        withExtendedLifetime(sceneDelegate) {}
    }

    @Test func `a scene without a delegate leaves it to the application`() throws {
        let delegate = NotingApplicationDelegate(kit)
        application.delegate = delegate
        application.activeScene = HandoffScene()
        try kit.run(until: "Attach")
        kit.event(.continue(id(1), continued("one")))
        try kit.run(until: "continue one")
        withExtendedLifetime(delegate) {}
    }
}
