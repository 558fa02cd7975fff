import ExampleSupport
import Foundation
import HandoffKit
import Testing

@testable import MapViewer

@Suite @MainActor struct MapViewerTests {
    @Test func `a region and a store are read back from an activity`() throws {
        let viewing = NSUserActivity(activityType: NSUserActivity.mapViewingActivityType)
        #expect(viewing.viewingRegion() == nil)
        let region = Region(latitude: 48.25, longitude: -0.1, latitudeSpan: 17.5, longitudeSpan: 45)
        viewing.updateViewingRegion(region)
        #expect(viewing.viewingRegion() == region)
        #expect(Set(viewing.userInfo?.keys.compactMap { $0 as? String } ?? []) == NSUserActivity.requiredRegionKeys)

        let editing = NSUserActivity(activityType: NSUserActivity.storeEditingActivityType)
        #expect(editing.store() == nil)
        for store in Store.all {
            editing.updateStore(store)
            #expect(editing.store() == store)
        }
        #expect(Set(editing.userInfo?.keys.compactMap { $0 as? String } ?? []) == NSUserActivity.requiredStoreKeys)
        editing.addUserInfoEntries(from: [
            "store-url": URL(string: "https://elsewhere.example.com/1") ?? URL(fileURLWithPath: "/")
        ])
        #expect(editing.store() == nil)
    }

    @Test func `favourites are a file`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let favourites = Favourites(file: folder.appendingPathComponent("a/favourites"))
        #expect(favourites.numbers.isEmpty)
        #expect(try favourites.toggle(7))
        #expect(try favourites.toggle(3))
        #expect(Favourites(file: folder.appendingPathComponent("a/favourites")).numbers == [3, 7])
        #expect(try !favourites.toggle(7))
        try "3\nnonsense\n\n9999999999999999999999\n4\n".write(
            to: folder.appendingPathComponent("a/favourites"), atomically: true, encoding: .utf8)
        #expect(favourites.numbers == [3, 4])
        #expect(throws: (any Error).self) {
            try Favourites(file: URL(fileURLWithPath: "/proc/none/favourites")).toggle(1)
        }
    }

    @Test func `every store is on land and has a distinct page`() {
        #expect(Set(Store.all.compactMap(\.url)).count == Store.all.count)
        for store in Store.all {
            #expect(store.surroundings.contains(latitude: store.latitude, longitude: store.longitude))
        }
    }

    @Test func `the popover fits into the picture for every store`() {
        for store in Store.all {
            let picture = MapPicture(region: .world, annotations: Store.all, popover: store, favourites: [store.number])
            #expect(picture.lines.contains { $0.contains("★ favourite") && $0.contains("│") })
            #expect(Set(picture.lines.map(\.count)).count == 1)
        }
    }

    /// A controller without a terminal. The test decides when its search replies.
    @MainActor private final class Fixture {
        var reports: [String] = []
        var pending: [() -> Void] = []
        lazy var map = MapViewController(
            .init(report: { [unowned self] in reports.append($0) }, later: { [unowned self] in pending.append($0) }))

        func answer() {
            let due = pending
            pending = []
            for body in due { body() }
        }
    }

    @Test func `a store out of sight is opened once its pin exists`() throws {
        let fixture = Fixture()
        let map = fixture.map
        let tokyo = try #require(Store.all.first { $0.number == 6 })
        map.show(Region(latitude: 48, longitude: 10, latitudeSpan: 20, longitudeSpan: 40))
        fixture.answer()
        #expect(map.annotations.map(\.number) == [1, 2])
        var isThere = false
        map.whenAnnotated(tokyo) { isThere = true }
        #expect(!isThere && map.region == tokyo.surroundings)
        fixture.answer()
        #expect(isThere && map.annotations == [tokyo])
        // Without delay if it is visible.
        isThere = false
        map.whenAnnotated(tokyo) { isThere = true }
        #expect(isThere)
    }

    @Test func `moving the map cancels opening a store`() throws {
        let fixture = Fixture()
        let map = fixture.map
        map.open(try #require(Store.all.last))
        map.show(.world)
        fixture.answer()
        #expect(map.popover == nil && map.annotations.count == Store.all.count)
        map.open(Store.all[0])
        #expect(map.popover == Store.all[0])
        map.show(Region.world.panned(.north))
        #expect(map.popover == nil)
    }

    @Test func `a continuation closes only an open store`() throws {
        let fixture = Fixture()
        let map = fixture.map
        map.show(Region.world.panned(.south))
        fixture.answer()
        map.open(Store.all[7])
        map.userActivityWasContinued(NSUserActivity(activityType: NSUserActivity.mapViewingActivityType))
        #expect(map.popover != nil)
        map.userActivityWasContinued(NSUserActivity(activityType: NSUserActivity.storeEditingActivityType))
        #expect(map.popover == nil)
        #expect(fixture.reports.last == "popover closed 8: continued on another device")
    }
}
