/// A part of the world: a centre and its extent, in degrees. It can always be drawn: values are
/// clamped to their ranges.
package struct Region: Equatable, Sendable {
    /// The latitude of the centre: −90 to 90, north is positive.
    package let latitude: Double
    /// The longitude of the centre: −180 up to 180, east is positive.
    package let longitude: Double
    /// The distance from the lower to the upper edge: 0.5 to 180.
    package let latitudeSpan: Double
    /// The distance from the left to the right edge: 1 to 360.
    package let longitudeSpan: Double

    /// The whole world.
    package static let world = Region(latitude: 20, longitude: 0, latitudeSpan: 140, longitudeSpan: 360)

    /// Creates a region. A number that is not finite is replaced: by 0 for the centre, and by the
    /// maximum for a span.
    package init(latitude: Double, longitude: Double, latitudeSpan: Double, longitudeSpan: Double) {
        self.latitude = min(max(latitude.isFinite ? latitude : 0, -90), 90)
        self.longitude = Self.wrapped(longitude.isFinite ? longitude : 0)
        self.latitudeSpan = min(max(latitudeSpan.isFinite ? latitudeSpan : 180, 0.5), 180)
        self.longitudeSpan = min(max(longitudeSpan.isFinite ? longitudeSpan : 360, 1), 360)
    }

    /// The direction in which the view moves.
    package enum Direction: String, Sendable {
        case north = "n"
        case south = "s"
        case east = "e"
        case west = "w"
    }

    /// Returns the region moved by a quarter of its size.
    package func panned(_ direction: Direction) -> Region {
        let (up, right): (Double, Double) =
            switch direction {
            case .north: (1, 0)
            case .south: (-1, 0)
            case .east: (0, 1)
            case .west: (0, -1)
            }
        return Region(
            latitude: latitude + up * latitudeSpan / 4, longitude: longitude + right * longitudeSpan / 4,
            latitudeSpan: latitudeSpan, longitudeSpan: longitudeSpan)
    }

    /// Returns the region with the same centre and a scaled extent.
    package func zoomed(by factor: Double) -> Region {
        Region(
            latitude: latitude, longitude: longitude, latitudeSpan: latitudeSpan * factor,
            longitudeSpan: longitudeSpan * factor)
    }

    /// Returns the relative position of a location: 0 at the left or upper edge, 1 at the right or
    /// lower one.
    package func place(latitude: Double, longitude: Double) -> (x: Double, y: Double) {
        let east = Self.wrapped(longitude - self.longitude)
        return (east / longitudeSpan + 0.5, (self.latitude - latitude) / latitudeSpan + 0.5)
    }

    /// Returns whether a location is inside the region.
    package func contains(latitude: Double, longitude: Double) -> Bool {
        let (x, y) = place(latitude: latitude, longitude: longitude)
        return (0..<1).contains(x) && (0..<1).contains(y)
    }

    /// The region as numbers with two decimals.
    package var text: String {
        [latitude, longitude, latitudeSpan, longitudeSpan].map(Self.text).joined(separator: " ")
    }

    private static func text(_ number: Double) -> String {
        let hundredths = Int((number * 100).rounded())
        let (whole, rest) = abs(hundredths).quotientAndRemainder(dividingBy: 100)
        return "\(hundredths < 0 ? "-" : "")\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    private static func wrapped(_ longitude: Double) -> Double {
        // Values in range are returned unchanged to the last bit, so that equal regions stay equal.
        guard !(-180..<180).contains(longitude) else { return longitude }
        let turn = (longitude + 180).truncatingRemainder(dividingBy: 360)
        return turn < 0 ? turn + 180 : turn - 180
    }
}
