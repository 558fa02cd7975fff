import ExampleSupport
import Foundation
import HandoffKit
import HandoffTesting
import Testing

@testable import MapOff

/// Tests the app between two simulated devices.
@Suite @MainActor struct MapOffHandoffTests {
    private let loopback: HandoffLoopback
    private let desk: LoopbackDevice
    private let laptop: LoopbackDevice
    private let map: MapController
    private let delegate: AppDelegate

    init() throws {
        loopback = try HandoffLoopback()
        desk = try loopback.device("Desk")
        laptop = try loopback.device("Laptop")
        let application = desk.application("com.example.mapoff", activityTypes: [MapController.activityType])
        map = MapController(application) { _ in }
        delegate = AppDelegate(map) { _ in }
        application.delegate = delegate
        map.viewDidLoad()
    }

    private func activity(_ value: Any) -> LoopbackActivity {
        LoopbackActivity(activityType: MapController.activityType, userInfo: ["region": value])
    }

    @Test(.timeLimit(.minutes(1))) func `the viewport is handed off in both directions`() async throws {
        try await laptop.offer(of: MapController.activityType)
        let taken = try await laptop.take(MapController.activityType)
        #expect((taken.userInfo["region"] as? Data).flatMap(Viewport.init(packed:))?.region == .world)

        let other = Region(latitude: 48, longitude: 16, latitudeSpan: 10, longitudeSpan: 20)
        try await desk.hand(activity(Viewport(other).packed))
        #expect(map.region == other)

        // Invalid viewports and failed continuations leave the map unchanged.
        await #expect(throws: HandoffError.self) { try await desk.hand(activity(Data([1, 2, 3]))) }
        try laptop.publish(activity(Viewport(.world).packed))
        laptop.failNext(HandoffError(code: 4610, reason: "timedOut", message: "too slow"))
        await #expect(throws: HandoffError.self) { try await desk.continue(MapController.activityType) }
        #expect(map.region == other)
        try await desk.continue(MapController.activityType)
        #expect(map.region == .world)
    }
}
