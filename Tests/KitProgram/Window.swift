import HandoffKit

/// A scene's delegate that says what it is told, by its name.
final class Window: HandoffSceneDelegate {
    private let name: String
    private unowned let app: KitApp

    init(_ name: String, _ app: KitApp) {
        self.name = name
        self.app = app
    }

    func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String) {
        app.say("willContinue", ["by": name, "type": userActivityType])
    }

    func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity) { app.take(userActivity, by: name) }
}
