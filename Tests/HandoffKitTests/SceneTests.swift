import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import Testing

/// A scene delegate that notes its calls.
private final class SceneDelegate: NSObject, HandoffSceneDelegate, @unchecked Sendable {
    let kit: KitTest
    let name: String

    init(_ kit: KitTest, _ name: String = "scene") {
        self.kit = kit
        self.name = name
    }

    func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String) {
        kit.note("\(name) will \(userActivityType)")
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        kit.note("\(name) continue \(userActivity.title ?? "-")")
    }

    func scene(_ scene: UIScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error) {
        kit.note("\(name) fail \((error as NSError).code)")
    }

    func scene(_ scene: UIScene, didUpdate userActivity: NSUserActivity) { kit.note("\(name) didUpdate") }
}

/// A scene delegate without any method.
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

    private func continued(_ title: String, about identifier: String? = nil) -> ContinuedActivity {
        var continued = Sample.continued(type: type, title: title, userInfo: ["page": 1])
        continued.targetContentIdentifier = identifier
        return continued
    }

    /// Returns a scene for one letter.
    private func scene(_ name: String, _ delegate: SceneDelegate) -> HandoffScene {
        let scene = HandoffScene(delegate: delegate)
        let conditions = scene.activationConditions
        conditions.canActivateForTargetContentIdentifierPredicate = NSPredicate { text, _ in
            (text as? String)?.hasPrefix("letter/") == true
        }
        conditions.prefersToActivateForTargetContentIdentifierPredicate = NSPredicate { text, _ in
            text as? String == "letter/\(name)"
        }
        application.connect(scene)
        return scene
    }

    @Test func `the activity of a scene that becomes active is current`() throws {
        let scenes = [HandoffScene(delegate: nil), HandoffScene(delegate: nil)]
        for (number, scene) in scenes.enumerated() {
            let activity = NSUserActivity(activityType: "com.example.scene\(number)", application: application)
            scene.userActivity = activity
            try kit.run(until: "BecomeCurrent", times: number + 1)
        }
        application.activeScene = scenes[0]
        try kit.run(until: "BecomeCurrent", times: 3)
        #expect(kit.daemon?.parameters(of: "BecomeCurrent")?["activity"] == .string(Sample.activityID(1).hex))
    }

    @Test func `the active scene is notified instead of the application's delegate`() throws {
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

    @Test func `all methods of a scene delegate are optional`() throws {
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
        application.activeScene = HandoffScene(delegate: nil)
        try kit.run(until: "Attach")
        kit.event(.continue(id(1), continued("one")))
        try kit.run(until: "continue one")
        withExtendedLifetime(delegate) {}
    }

    @Test func `the content identifier selects the scene`() throws {
        let delegate = NotingApplicationDelegate(kit)
        application.delegate = delegate
        let delegates = ["one", "two"].map { SceneDelegate(kit, $0) }
        let scenes = delegates.map { scene($0.name, $0) }
        application.activeScene = scenes[1]
        #expect(application.connectedScenes == Set(scenes))
        try kit.run(until: "Attach")
        // The scene that prefers it, even if another one is active; otherwise the active one, if it
        // can activate; otherwise the app.
        for (number, about) in ["letter/one", "letter/three", "drawing", nil].enumerated() {
            let id = id(UInt8(number + 1))
            kit.event(.willContinue(id, type, Sample.origin))
            kit.event(.continue(id, continued("\(number)", about: about)))
        }
        try kit.run { story in story.count { $0.hasPrefix("AnswerContinue") } == 4 }
        #expect(
            kit.story.filter { !$0.hasPrefix("A") } == [
                "one will com.example.editing", "one continue 0", "two will com.example.editing", "two continue 1",
                "will com.example.editing", "continue 2", "two will com.example.editing", "two continue 3",
            ])
        withExtendedLifetime((delegate, delegates)) {}
    }

    @Test func `a formerly active scene receives activities that none prefers, until it is disconnected`() throws {
        let delegates = ["one", "two"].map { SceneDelegate(kit, $0) }
        let scenes = delegates.map { scene($0.name, $0) }
        application.activeScene = scenes[1]
        application.activeScene = nil
        try kit.run(until: "Attach")
        kit.event(.continue(id(1), continued("first", about: "letter/three")))
        try kit.run(until: "two continue first")
        application.disconnect(scenes[1])
        kit.event(.continue(id(2), continued("second", about: "letter/three")))
        try kit.run(until: "one continue second")
        #expect(application.connectedScenes == [scenes[0]])
        withExtendedLifetime(delegates) {}
    }

    @Test func `a scene that receives willContinue also receives the failure`() throws {
        let sceneDelegate = SceneDelegate(kit, "one")
        application.activeScene = scene("one", sceneDelegate)
        try kit.run(until: "Attach")
        kit.event(.willContinue(id(1), type, Sample.origin))
        kit.event(.didFail(id(1), type, .ownerGone(device: "laptop")))
        try kit.run(until: "one fail 4608")
        #expect(kit.story.filter { $0.hasPrefix("one") } == ["one will com.example.editing", "one fail 4608"])
        withExtendedLifetime(sceneDelegate) {}
    }
}
