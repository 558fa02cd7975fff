import ExampleSupport
import Foundation
import HandoffKit

// What the app's two activities say. Both are declared in Info.plist.
extension NSUserActivity {
    /// Looking at a part of the map.
    static let mapViewingActivityType = "com.example.mapviewer.map-viewing"
    /// Having the details of a store open.
    static let storeEditingActivityType = "com.example.mapviewer.store-editing"

    /// The members of `userInfo`.
    private enum Key {
        static let centerLatitude = "center-latitude"
        static let centerLongitude = "center-longitude"
        static let spanLatitude = "span-latitude"
        static let spanLongitude = "span-longitude"
        static let storeURL = "store-url"
        static let storeLatitude = "store-latitude"
        static let storeLongitude = "store-longitude"
    }

    /// Writes which part of the map is shown.
    func updateViewingRegion(_ region: Region) {
        addUserInfoEntries(from: [
            Key.centerLatitude: region.latitude,
            Key.centerLongitude: region.longitude,
            Key.spanLatitude: region.latitudeSpan,
            Key.spanLongitude: region.longitudeSpan,
        ])
    }

    /// Which part of the map is shown.
    /// - Returns: nil when a number is missing.
    func viewingRegion() -> Region? {
        guard let latitude = userInfo?[Key.centerLatitude] as? Double,
            let longitude = userInfo?[Key.centerLongitude] as? Double,
            let latitudeSpan = userInfo?[Key.spanLatitude] as? Double,
            let longitudeSpan = userInfo?[Key.spanLongitude] as? Double
        else { return nil }
        return Region(
            latitude: latitude, longitude: longitude, latitudeSpan: latitudeSpan, longitudeSpan: longitudeSpan)
    }

    /// Writes which store is open: its page, and where it is. Whether it is a favourite is in `Favourites`.
    func updateStore(_ store: Store) {
        guard let url = store.url else { return }
        addUserInfoEntries(from: [
            Key.storeURL: url, Key.storeLatitude: store.latitude, Key.storeLongitude: store.longitude,
        ])
    }

    /// Which store is open.
    /// - Returns: nil when something is missing, or there is no such store here.
    func store() -> Store? {
        guard let url = userInfo?[Key.storeURL] as? URL, userInfo?[Key.storeLatitude] is Double,
            userInfo?[Key.storeLongitude] is Double
        else { return nil }
        return Store.at(url)
    }

    /// The members without which the activity cannot be continued.
    static let requiredRegionKeys: Set<String> = [
        Key.centerLatitude, Key.centerLongitude, Key.spanLatitude, Key.spanLongitude,
    ]
    /// The same for an open store.
    static let requiredStoreKeys: Set<String> = [Key.storeURL, Key.storeLatitude, Key.storeLongitude]
}
