import Foundation
import HandoffKit

// An app with nonisolated code and its own actors: the additions of HandoffKit to Apple's names.

nonisolated final class OwnDelegate: HandoffApplicationDelegate, HandoffSceneDelegate, HandoffActivityDelegate {
    func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        true
    }

    func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity) {}

    func userActivityWillSave(_ userActivity: NSUserActivity) {}
}

nonisolated class OwnView: HandoffResponder {
    private var page = 1

    init(page: Int) {
        self.page = page
        super.init()
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        activity.addUserInfoEntries(from: ["page": page])
    }
}

nonisolated final class OwnDocument: HandoffDocument, @unchecked Sendable {}

/// An activity with an additional member.
nonisolated final class OwnActivity: NSUserActivity, @unchecked Sendable {
    let page = 1
}

/// An activity with another initializer.
nonisolated final class OtherActivity: NSUserActivity, @unchecked Sendable {
    let page: Int

    init(page: Int) {
        self.page = page
        super.init(activityType: "com.example.reading")
    }
}

func makeActivities() -> [NSUserActivity] {
    [OwnActivity(activityType: "com.example.reading"), OtherActivity(page: 1)]
}

actor Store {
    private var pages: [Int] = []

    func add(_ page: Int) { pages.append(page) }
}

class OwnMainView: UIViewController {
    func show() {
        // A main-actor class is Sendable.
        Task.detached { await self.loadView() }
    }
}

@MainActor final class Model {
    private let store = Store()
    private var page = 1

    func begin() {
        let application = HandoffApplication.shared
        application.onWillContinue("com.example.reading") { self.page = 0 }
        application.onContinue("com.example.reading") { activity in
            self.page = activity.userInfo?["page"] as? Int ?? 1
        }
        application.onFail("com.example.reading") { _ in self.page = 1 }
        application.onContinue("com.example.other", queue: .global()) { [store] activity in
            let page = activity.userInfo?["page"] as? Int ?? 1
            Task { await store.add(page) }
        }
    }
}

/// A view in a custom view layer, recreated at each update.
nonisolated struct OwnText: HandoffModifiable {
    var text = ""
    var modifiers: [HandoffModifier] = []

    @MainActor func modifier(_ modifier: HandoffModifier) -> OwnText {
        OwnText(text: text, modifiers: modifiers + [modifier])
    }
}

@MainActor final class OwnWindow: UISceneDelegate {
    private let host = HandoffModifierHost()
    private var selection: [String]?

    func appear(as scene: UIScene) {
        let conditions = UISceneActivationConditions()
        conditions.canActivateForTargetContentIdentifierPredicate = NSPredicate(value: true)
        conditions.prefersToActivateForTargetContentIdentifierPredicate = NSPredicate { text, _ in
            text as? String == "letter/7"
        }
        scene.activationConditions = conditions
        UIApplication.shared.connect(scene)
        update()
    }

    private func update() {
        let view = OwnText(text: "a")
            .userActivity("com.example.reading") { activity in activity.title = self.selection?.first }
            .userActivity("com.example.selecting", element: selection) { names, activity in
                activity.title = names.joined()
            }
            .onContinueUserActivity("com.example.reading") { activity in self.selection = activity.title.map { [$0] } }
        host.update(view.modifiers)
    }

    func follow() async {
        for await activity in HandoffApplication.shared.continuations(of: "com.example.reading") {
            selection = [activity.activityType]
        }
    }
}
