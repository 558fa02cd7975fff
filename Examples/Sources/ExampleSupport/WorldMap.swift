/// The land of the world, approximately: outlines of some points each, sufficient for a map of
/// characters.
package enum WorldMap {
    /// A piece of land.
    private struct Outline: Sendable {
        let points: [(longitude: Double, latitude: Double)]
        let longitudes: ClosedRange<Double>
        let latitudes: ClosedRange<Double>

        /// Creates an outline from alternating longitudes and latitudes.
        init(_ numbers: [Double]) {
            points = stride(from: 0, to: numbers.count - 1, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
            longitudes = Self.range(points.map(\.longitude))
            latitudes = Self.range(points.map(\.latitude))
        }

        private static func range(_ numbers: [Double]) -> ClosedRange<Double> {
            (numbers.min() ?? 0)...(numbers.max() ?? 0)
        }

        /// Returns whether a location is inside, determined by the number of edges to its east.
        func contains(longitude: Double, latitude: Double) -> Bool {
            guard longitudes.contains(longitude), latitudes.contains(latitude), var last = points.last else {
                return false
            }
            var isInside = false
            for point in points {
                if (point.latitude > latitude) != (last.latitude > latitude) {
                    let slope = (last.longitude - point.longitude) / (last.latitude - point.latitude)
                    if longitude < point.longitude + (latitude - point.latitude) * slope { isInside.toggle() }
                }
                last = point
            }
            return isInside
        }
    }

    /// Returns whether there is land at a location, in degrees.
    package static func isLand(latitude: Double, longitude: Double) -> Bool {
        outlines.contains { $0.contains(longitude: longitude, latitude: latitude) }
    }

    /// Draws a region. Each character represents two by two locations.
    package static func draw(_ region: Region, on canvas: inout Canvas) {
        for row in 0..<canvas.height {
            for column in 0..<canvas.width {
                var pattern = 0
                for part in 0..<4 {
                    let x = (Double(column) + (part % 2 == 0 ? 0.25 : 0.75)) / Double(canvas.width) - 0.5
                    let y = (Double(row) + (part < 2 ? 0.25 : 0.75)) / Double(canvas.height) - 0.5
                    let latitude = region.latitude - y * region.latitudeSpan
                    let there = Region(
                        latitude: 0, longitude: region.longitude + x * region.longitudeSpan, latitudeSpan: 1,
                        longitudeSpan: 1)
                    if isLand(latitude: latitude, longitude: there.longitude) { pattern |= 1 << part }
                }
                canvas[column, row] = blocks[pattern]
            }
        }
    }

    /// Bits from the lowest: upper left, upper right, lower left, lower right.
    private static let blocks: [Character] = [
        " ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█",
    ]

    private static let outlines: [Outline] =
        [
            northAmerica, southAmerica, africa, eurasia, australia, greenland, antarctica, newGuinea,
        ] + islands.map(Outline.init)

    private static let northAmerica = Outline([
        -168, 66, -156, 71, -128, 70, -110, 68, -95, 72, -82, 72, -81, 68, -88, 65, -94, 60, -92, 57, -85, 55, -80, 52,
        -78, 58, -78, 62, -70, 61, -64, 58, -56, 52, -66, 49, -60, 46, -70, 43, -74, 40, -76, 35, -81, 31, -80, 25,
        -83, 29, -90, 29, -97, 27, -97, 22, -94, 18, -90, 21, -87, 21, -88, 16, -83, 15, -83, 10, -79, 9, -77, 8, -82,
        8,
        -86, 11, -92, 14, -97, 16, -105, 20, -109, 25, -113, 31, -110, 23, -115, 30, -118, 34, -122, 37, -124, 42,
        -124, 48, -130, 54, -140, 60, -150, 60, -160, 55, -158, 58, -165, 61, -166, 64,
    ])
    private static let southAmerica = Outline([
        -78, 8, -72, 12, -62, 10, -52, 5, -50, 0, -44, -3, -35, -6, -39, -13, -41, -22, -48, -26, -54, -34, -58, -35,
        -57, -38, -62, -39, -65, -43, -68, -50, -68, -55, -74, -52, -73, -40, -71, -30, -70, -18, -76, -14, -81, -6,
        -80, 0, -77, 4,
    ])
    private static let africa = Outline([
        -6, 36, 10, 37, 11, 34, 20, 31, 32, 31, 34, 27, 37, 21, 43, 12, 51, 12, 48, 5, 41, -2, 39, -8, 41, -15, 35, -20,
        35, -24, 32, -28, 27, -34, 19, -35, 15, -27, 12, -18, 13, -10, 9, -1, 9, 4, 4, 6, -8, 4, -13, 8, -17, 14, -17,
        21,
        -13, 28,
    ])
    private static let eurasia = Outline([
        -9, 37, -9, 43, -2, 43, -1, 46, -5, 48, 2, 51, 8, 54, 8, 57, 10, 57, 10, 54, 19, 54, 21, 57, 24, 59, 30, 60,
        22, 60, 22, 63, 25, 65, 22, 66, 17, 61, 17, 58, 14, 55, 11, 59, 6, 58, 5, 62, 14, 68, 25, 71, 41, 67, 34, 65,
        44, 66, 55, 68, 68, 69, 73, 73, 80, 73, 105, 78, 113, 74, 140, 72, 160, 70, 180, 69, 178, 63, 163, 60, 162, 56,
        157, 51, 156, 57, 160, 61, 150, 59, 142, 59, 136, 54, 141, 52, 140, 48, 132, 43, 127, 39, 129, 36, 126, 34,
        125, 38, 121, 39, 118, 39, 122, 37, 119, 35, 122, 31, 120, 26, 114, 22, 108, 21, 106, 18, 109, 12, 105, 9,
        100, 13, 104, 1, 101, 3, 98, 8, 98, 16, 94, 17, 91, 22, 87, 21, 80, 15, 80, 12, 77, 8, 73, 17, 72, 21, 67, 25,
        57, 26, 52, 28, 49, 30, 51, 25, 56, 26, 59, 22, 52, 16, 44, 13, 39, 21, 35, 28, 35, 31, 36, 36, 28, 37, 27, 40,
        34, 42, 41, 41, 38, 47, 33, 45, 29, 45, 28, 41, 23, 40, 24, 38, 22, 37, 19, 42, 13, 45, 18, 40, 16, 38, 15, 40,
        11, 43, 8, 44, 3, 43, 0, 40, -2, 37, -5, 36,
    ])
    private static let australia = Outline([
        114, -22, 122, -18, 130, -12, 136, -12, 136, -15, 140, -17, 142, -11, 146, -19, 153, -26, 150, -37, 140, -38,
        136, -35, 131, -32, 118, -35, 115, -34,
    ])
    private static let greenland = Outline([
        -73, 78, -60, 82, -30, 83, -20, 80, -20, 72, -40, 65, -44, 60, -53, 66, -55, 71, -68, 76,
    ])
    private static let antarctica = Outline([
        -180, -90, -180, -78, -75, -74, -60, -64, -60, -76, 0, -70, 90, -66, 160, -70, 180, -78, 180, -90,
    ])
    private static let newGuinea = Outline([131, -1, 141, -3, 150, -10, 142, -9, 138, -8, 132, -3])
    private static let islands: [[Double]] = [
        [-5, 50, 1, 51, 1, 53, -2, 56, -2, 58, -5, 58.5, -6, 57, -3, 54, -5, 52],
        [-10, 52, -6, 52, -6, 55, -10, 54],
        [-24, 65, -18, 63, -14, 65, -20, 66.5],
        [173, -35, 178, -38, 175, -41, 171, -46, 167, -46, 172, -41, 174, -39],
        [130, 32, 136, 34, 141, 36, 142, 40, 145, 43, 141, 45, 140, 40, 136, 36, 131, 34],
        [44, -20, 49, -13, 50, -16, 47, -25, 44, -25],
        [109, 1, 117, 7, 119, 1, 116, -4, 110, -3],
        [95, 5, 104, -2, 106, -6, 100, -1],
        [105, -6, 114, -7, 114, -8, 106, -7],
        [120, 18, 122, 14, 126, 7, 122, 7],
        [80, 9, 82, 7, 80, 6],
        [-84, 22, -75, 20, -78, 22],
        [144, -41, 148, -41, 147, -43],
    ]
}
