import ExampleSupport
import Foundation
import HandoffKit

// The contents of the app's two activities. Both types are declared in Info.plist.
extension NSUserActivity {
    /// Viewing a region of the map.
    static let mapViewingActivityType = "com.example.mapviewer.map-viewing"
    /// Viewing the details of a store.
    static let storeEditingActivityType = "com.example.mapviewer.store-editing"

    private enum Key {
        static let centerLatitude = "center-latitude"
        static let centerLongitude = "center-longitude"
        static let spanLatitude = "span-latitude"
        static let spanLongitude = "span-longitude"
        static let storeURL = "store-url"
        static let storeLatitude = "store-latitude"
        static let storeLongitude = "store-longitude"
    }

    func updateViewingRegion(_ region: Region) {
        addUserInfoEntries(from: [
            Key.centerLatitude: region.latitude,
            Key.centerLongitude: region.longitude,
            Key.spanLatitude: region.latitudeSpan,
            Key.spanLongitude: region.longitudeSpan,
        ])
    }

    /// Returns the visible region.
    /// - Returns: nil if a number is missing.
    func viewingRegion() -> Region? {
        guard let latitude = userInfo?[Key.centerLatitude] as? Double,
            let longitude = userInfo?[Key.centerLongitude] as? Double,
            let latitudeSpan = userInfo?[Key.spanLatitude] as? Double,
            let longitudeSpan = userInfo?[Key.spanLongitude] as? Double
        else { return nil }
        return Region(
            latitude: latitude, longitude: longitude, latitudeSpan: latitudeSpan, longitudeSpan: longitudeSpan)
    }

    /// Writes the open store: its page and its location. `Favourites` stores whether it is a
    /// favourite.
    func updateStore(_ store: Store) {
        guard let url = store.url else { return }
        addUserInfoEntries(from: [
            Key.storeURL: url, Key.storeLatitude: store.latitude, Key.storeLongitude: store.longitude,
        ])
    }

    /// Returns the open store.
    /// - Returns: nil if a member is missing, or the store is unknown.
    func store() -> Store? {
        guard let url = userInfo?[Key.storeURL] as? URL, userInfo?[Key.storeLatitude] is Double,
            userInfo?[Key.storeLongitude] is Double
        else { return nil }
        return Store.at(url)
    }

    static let requiredRegionKeys: Set<String> = [
        Key.centerLatitude, Key.centerLongitude, Key.spanLatitude, Key.spanLongitude,
    ]
    static let requiredStoreKeys: Set<String> = [Key.storeURL, Key.storeLatitude, Key.storeLongitude]
}
