import ExampleSupport
import Foundation
import HandoffKit
import Testing

@testable import MapOff

@Suite struct MapTests {
    @Test func `a region can always be drawn`() {
        let wild = Region(latitude: 1e9, longitude: 721, latitudeSpan: -3, longitudeSpan: .infinity)
        #expect(wild == Region(latitude: 90, longitude: 1, latitudeSpan: 0.5, longitudeSpan: 360))
        #expect(Region(latitude: .nan, longitude: -181, latitudeSpan: 1, longitudeSpan: 1).longitude == 179)
        #expect(Region.world.zoomed(by: 1e300).latitudeSpan == 180)
    }

    @Test func `a map goes around the world`() {
        var region = Region(latitude: 0, longitude: 170, latitudeSpan: 40, longitudeSpan: 80)
        region = region.panned(.east)
        #expect(region.longitude == -170)
        #expect(region.contains(latitude: 0, longitude: 175) && !region.contains(latitude: 0, longitude: 100))
        #expect(region.panned(.west).panned(.north).text == "10.00 170.00 40.00 80.00")
        #expect(
            Region(latitude: -0.004, longitude: -7.126, latitudeSpan: 1, longitudeSpan: 1).text
                == "0.00 -7.13 1.00 1.00")
    }

    @Test func `commands move a region`() throws {
        #expect(Region.world.moved(by: try #require(Command("pan e"))) == Region.world.panned(.east))
        #expect(Region.world.moved(by: try #require(Command("zoom in")))?.latitudeSpan == 70)
        for line in ["pan", "pan x", "zoom", "go 1", "go a b", "open 3"] {
            #expect(Region.world.moved(by: try #require(Command(line))) == nil)
        }
    }

    @Test func `land is land and the sea is not`() {
        for (latitude, longitude) in [
            (48.2, 16.4), (40.0, -100.0), (-10.0, -55.0), (0.0, 25.0), (-25.0, 135.0), (60.0, 100.0),
        ] {
            #expect(WorldMap.isLand(latitude: latitude, longitude: longitude), "\(latitude) \(longitude)")
        }
        for (latitude, longitude) in [(0.0, -30.0), (30.0, -150.0), (-30.0, 80.0), (36.0, 18.0)] {
            #expect(!WorldMap.isLand(latitude: latitude, longitude: longitude), "\(latitude) \(longitude)")
        }
    }

    @Test(arguments: [Region.world, Region(latitude: -12.34, longitude: 0.1, latitudeSpan: 0.7, longitudeSpan: 1.9)])
    func `a viewport survives packing`(_ region: Region) {
        let viewport = Viewport(region)
        #expect(viewport.packed.count == Viewport.size)
        #expect(Viewport(packed: viewport.packed)?.region == region)
        // Also as a slice of a larger buffer.
        #expect(Viewport(packed: (Data([1, 2]) + viewport.packed).dropFirst(2)) == viewport)
    }

    @Test func `the bytes are little endian doubles`() {
        let viewport = Viewport(Region(latitude: 1, longitude: -2, latitudeSpan: 3, longitudeSpan: 4))
        let hex = viewport.packed.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(hex == "000000000000f03f" + "00000000000000c0" + "0000000000000840" + "0000000000001040")
    }

    @Test func `other bytes are rejected`() {
        let good = Viewport(Region.world).packed
        #expect(Viewport(packed: Data()) == nil)
        #expect(Viewport(packed: good.dropLast()) == nil)
        #expect(Viewport(packed: good + [0]) == nil)
        for number in [Double.nan, .infinity, 91, -1e300] {
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> ($0 * 8)) }
            #expect(Viewport(packed: Data(bytes) + good.dropFirst(8)) == nil, "\(number)")
        }
    }

    @Test func `a canvas clips what does not fit`() {
        var canvas = Canvas(width: 8, height: 3)
        canvas.write("outside", column: 5, row: 1)
        canvas.write("above", column: 0, row: -1)
        canvas[-1, 0] = "x"
        canvas[0, 2] = "y"
        #expect(canvas.lines == ["", "     out", "y"])
        #expect(Canvas(width: -1, height: -1).lines.isEmpty)
        #expect(canvas.framed("A title that is too long").allSatisfy { $0.count == 10 })
    }
}
