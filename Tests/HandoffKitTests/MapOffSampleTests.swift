import Foundation
import HandoffKit
import Testing

// Code with the structure of the sample MapOff: the visible region of a map as the bytes of a
// structure, in one member of `userInfo`.

private let viewportType = "com.example.MapOff.viewport"

private struct Region: Equatable {
    var latitude = 0.0
    var longitude = 0.0
    var latitudeDelta = 0.0
    var longitudeDelta = 0.0
}

private final class MapOffViewController: HandoffResponder {
    private let kit: KitTest
    var region: Region

    init(_ kit: KitTest, region: Region = Region()) {
        self.kit = kit
        self.region = region
    }

    func viewDidLoad(_ application: HandoffApplication) {
        if userActivity?.activityType != viewportType {
            userActivity?.invalidate()
            userActivity = NSUserActivity(activityType: viewportType, application: application)
        }
        userActivity?.needsSave = true
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        let regionData = withUnsafePointer(to: &region) {
            NSData(bytes: $0, length: MemoryLayout<Region>.size)
        }
        activity.userInfo = ["region": regionData]
    }

    override func restoreUserActivityState(_ activity: NSUserActivity) {
        guard activity.activityType == viewportType, let data = activity.userInfo?["region"] as? Data,
            data.count == MemoryLayout<Region>.size
        else { return }
        var region = Region()
        withUnsafeMutableBytes(of: &region) { _ = data.copyBytes(to: $0) }
        self.region = region
        kit.note("restored")
    }
}

@Suite struct MapOffSampleTests {
    @Test func `the visible region is sent as bytes`() throws {
        let here = try KitTest()
        let application = here.application()
        let region = Region(latitude: 51.477, longitude: -0.001, latitudeDelta: 0.25, longitudeDelta: 1e-300)
        let map = MapOffViewController(here, region: region)
        map.viewDidLoad(application)
        map.viewDidLoad(application)
        let carried = try here.carried(from: try #require(map.userActivity))
        #expect(here.story.filter { $0.hasPrefix("Publish") }.count == 1, "the activity of the right type stays")

        let there = try KitTest()
        let otherMap = MapOffViewController(there)
        let other = there.application(types: [viewportType])
        let delegate = NotingApplicationDelegate(there) { _, restorationHandler in
            restorationHandler([otherMap])
            return true
        }
        other.delegate = delegate
        try there.receive(carried)
        try there.run(until: "restored")
        #expect(otherMap.region == region)
        withExtendedLifetime(delegate) {}
    }
}
