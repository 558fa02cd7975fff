import ExampleSupport
import Foundation

/// A map shop of the chain that this app shows.
struct Store: Equatable, Sendable {
    /// The number shown on the map.
    let number: Int
    let name: String
    let address: String
    let latitude: Double
    let longitude: Double

    /// The store's web page, which identifies it on both devices.
    var url: URL? { URL(string: "https://shops.example.com/\(number)") }

    /// The region shown when the store is opened while out of sight.
    var surroundings: Region {
        Region(latitude: latitude, longitude: longitude, latitudeSpan: 20, longitudeSpan: 50)
    }

    static let all = [
        Store(number: 1, name: "Meridian Maps", address: "3 Observatory Lane, London", latitude: 51.5, longitude: -0.1),
        Store(number: 2, name: "Kartenhaus", address: "Wollzeile 12, Vienna", latitude: 48.2, longitude: 16.4),
        Store(
            number: 3, name: "Librería del Sur", address: "Defensa 410, Buenos Aires", latitude: -34.6, longitude: -58.4
        ),
        Store(
            number: 4, name: "Compass & Rose", address: "88 Water Street, New York", latitude: 40.7, longitude: -74.0),
        Store(number: 5, name: "Bay Charts", address: "5 Pier Road, San Francisco", latitude: 37.8, longitude: -122.4),
        Store(number: 6, name: "Chizu-ya", address: "2-7 Kanda, Tokyo", latitude: 35.7, longitude: 139.7),
        Store(number: 7, name: "Harbour Atlas", address: "19 George Street, Sydney", latitude: -33.9, longitude: 151.2),
        Store(number: 8, name: "Ramani", address: "Moi Avenue 30, Nairobi", latitude: -1.3, longitude: 36.8),
        Store(number: 9, name: "Monsoon Maps", address: "7 Fort Road, Mumbai", latitude: 19.1, longitude: 72.9),
    ]

    static func at(_ url: URL) -> Store? { all.first { $0.url == url } }
}
