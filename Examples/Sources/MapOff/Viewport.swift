import ExampleSupport
import Foundation

/// The visible region as bytes: four IEEE 754 doubles (latitude, longitude, and both spans), each
/// with its lowest byte first. Copying a structure from memory would work only between similar
/// machines. This format also works between different ones, and foreign bytes are never interpreted
/// as a structure.
struct Viewport: Equatable, Sendable {
    static let size = 32

    let region: Region

    init(_ region: Region) {
        self.region = region
    }

    /// Reads the bytes.
    /// - Returns: nil for any other number of bytes, and for numbers that are not a location on a
    ///   map.
    init?(packed: Data) {
        guard packed.count == Self.size else { return nil }
        let numbers = (0..<4).map { place in
            let bytes = packed.dropFirst(place * 8).prefix(8)
            return Double(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
        }
        let region = Region(
            latitude: numbers[0], longitude: numbers[1], latitudeSpan: numbers[2], longitudeSpan: numbers[3])
        // A region adjusts invalid numbers; a viewport must contain exactly what was written.
        guard Viewport(region).numbers == numbers else { return nil }
        self.region = region
    }

    var packed: Data {
        Data(numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> ($0 * 8)) } })
    }

    private var numbers: [Double] {
        [region.latitude, region.longitude, region.latitudeSpan, region.longitudeSpan]
    }
}
