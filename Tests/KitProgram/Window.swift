import HandoffKit

/// A scene delegate that reports its calls under its name.
final class Window: HandoffSceneDelegate {
    private let name: String
    private unowned let app: KitApp

    init(_ name: String, _ app: KitApp) {
        self.name = name
        self.app = app
    }

    func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String) {
        app.report("willContinue", ["by": name, "type": userActivityType])
    }

    func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity) { app.accept(userActivity, by: name) }
}
