import Foundation
import HandoffJSON
import HandoffKit
import HandoffModel
import Testing

// Code with the structure of Apple's article on implementing Handoff: a drawing program whose
// userInfo has a version.

private let createShapeType = "com.example.myapp.create-shape"

private final class MyShapesViewController: HandoffResponder, @unchecked Sendable {
    private let kit: KitTest
    private(set) var shape: String?

    init(_ kit: KitTest, shape: String? = nil) {
        self.kit = kit
        self.shape = shape
    }

    func currentShapeType() -> String { shape ?? "none" }

    func beginCreating(_ application: HandoffApplication) {
        let activity = NSUserActivity(activityType: createShapeType, application: application)
        activity.isEligibleForHandoff = true
        activity.requiredUserInfoKeys = ["shape-type"]
        activity.title = NSLocalizedString("Creating shape", comment: "Creating shape activity")
        userActivity = activity
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        if activity.activityType == createShapeType {
            let updateDict: [AnyHashable: Any] = [
                "shape-type": currentShapeType(),
                "activity-version": 1,
            ]
            activity.addUserInfoEntries(from: updateDict)
        }
    }

    override func restoreUserActivityState(_ userActivity: NSUserActivity) {
        super.restoreUserActivityState(userActivity)
        guard userActivity.activityType == createShapeType,
            let type = userActivity.userInfo?["shape-type"] as? String,
            let version = userActivity.userInfo?["activity-version"] as? Int,
            version >= 1
        else {
            return kit.note("not restored")
        }
        shape = type
        kit.note("restored \(type)")
    }
}

private final class ShapesDelegate: NSObject, HandoffApplicationDelegate {
    let top: MyShapesViewController?

    init(top: MyShapesViewController?) { self.top = top }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        guard let shapesVC = top else { return false }
        restorationHandler([shapesVC])
        return true
    }
}

@Suite struct ShapesSampleTests {
    private func drawn() throws -> CarriedActivity {
        let kit = try KitTest()
        let controller = MyShapesViewController(kit, shape: "hexagon")
        controller.beginCreating(kit.application())
        return try kit.carried(from: try #require(controller.userActivity))
    }

    private func receive(_ carried: CarriedActivity, withView: Bool = true, until end: String) throws {
        let kit = try KitTest()
        let delegate = ShapesDelegate(top: withView ? MyShapesViewController(kit) : nil)
        let application = kit.application(types: [createShapeType])
        application.delegate = delegate
        try kit.receive(carried)
        try kit.run(until: end)
        withExtendedLifetime(delegate) {}
    }

    @Test func `creating a shape is continued`() throws {
        let carried = try drawn()
        #expect(carried.title == "Creating shape" && carried.requiredUserInfoKeys == ["shape-type"])
        try receive(carried, until: "restored hexagon")
    }

    @Test func `an older version is not restored`() throws {
        var carried = try drawn()
        carried.userInfo["activity-version"] = 0
        try receive(carried, until: "not restored")
    }

    @Test func `without a window the activity is not handled`() throws {
        try receive(try drawn(), withView: false, until: "AnswerContinue false")
    }

    @Test func `without a required key the activity does not arrive`() throws {
        var carried = try drawn()
        carried.userInfo["shape-type"] = nil
        // The reply is sent on behalf of the app, whose delegate receives the failure.
        try receive(carried, until: "AnswerContinue false")
    }
}
