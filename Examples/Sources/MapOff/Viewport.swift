import ExampleSupport
import Foundation

/// What part of the map is shown, as bytes: four doubles of IEEE 754 (latitude, longitude, and both spans), each with
/// its lowest byte first. Copying a structure from memory would do between equal machines; that this works between
/// others, too, and that foreign bytes are never taken for a structure, is worth these lines.
struct Viewport: Equatable, Sendable {
    /// How many bytes it is.
    static let size = 32

    let region: Region

    /// The viewport of a region.
    init(_ region: Region) {
        self.region = region
    }

    /// Reads the bytes.
    /// - Returns: nil for another number of bytes, and for numbers that are no place on a map.
    init?(packed: Data) {
        guard packed.count == Self.size else { return nil }
        let numbers = (0..<4).map { place in
            let bytes = packed.dropFirst(place * 8).prefix(8)
            return Double(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
        }
        let region = Region(
            latitude: numbers[0], longitude: numbers[1], latitudeSpan: numbers[2], longitudeSpan: numbers[3])
        // A region takes what comes and makes the best of it; a viewport is what another one has written.
        guard Viewport(region).numbers == numbers else { return nil }
        self.region = region
    }

    /// The bytes.
    var packed: Data {
        Data(numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> ($0 * 8)) } })
    }

    private var numbers: [Double] {
        [region.latitude, region.longitude, region.latitudeSpan, region.longitudeSpan]
    }
}
