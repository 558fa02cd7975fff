import LoopIO

/// A D-Bus property that is written on request.
struct TrayProperty {
    let name: String
    let signature: String
    let write: (inout BusMessage) -> Void

    init(_ name: String, _ signature: String, _ write: @escaping (inout BusMessage) -> Void) {
        self.name = name
        self.signature = signature
        self.write = write
    }

    static func text(_ name: String, _ value: String) -> TrayProperty {
        TrayProperty(name, "s") { $0.append(value) }
    }

    /// Writes `a{sv}`: the names and values of properties.
    static func write(_ properties: [TrayProperty], to message: inout BusMessage) {
        message.container("a", "{sv}") { list in
            for each in properties { list.entry(each.name, signature: each.signature, each.write) }
        }
    }

    /// Serves a call of org.freedesktop.DBus.Properties.
    static func serve(
        _ member: String, _ call: OpaquePointer, _ interface: String, _ properties: [TrayProperty]
    ) throws(Errno) -> BusObject.Answer? {
        // An empty name stands for any interface.
        guard [interface, ""].contains(try BusReader.text(call, "s")) else { return .invalid("unknown interface") }
        switch member {
        case "GetAll":
            return .reply { write(properties, to: &$0) }
        case "Get":
            let name = try BusReader.text(call, "s")
            guard let property = properties.first(where: { $0.name == name }) else {
                return .invalid("unknown property")
            }
            return .reply { $0.variant(property.signature, property.write) }
        default: return nil
        }
    }
}

/// The icon as pixels, for themes without it: two devices, as in the installed icon.
enum TrayPixels {
    /// A grey that is visible on light and on dark panels: alpha, red, green, blue.
    private static let colour: [UInt8] = [0xFF, 0x8A, 0x8A, 0x8A]
    /// Rectangles on a grid of 16 by 16: left, top, right, bottom. The second of each pair is the
    /// screen, which is cut out.
    private static let devices = [((1, 2, 11, 10), (3, 4, 9, 8)), ((8, 6, 15, 15), (10, 8, 13, 12))]

    /// Writes `a(iiay)`: the icon in two sizes.
    static func write(to message: inout BusMessage) {
        message.container("a", "(iiay)") { list in
            for size in [22, 48] {
                list.container("r", "iiay") { image in
                    image.append(Int32(size))
                    image.append(Int32(size))
                    image.append(pixels(size))
                }
            }
        }
    }

    private static func pixels(_ size: Int) -> [UInt8] {
        var pixels: [UInt8] = []
        for row in 0..<size {
            for column in 0..<size {
                let point = (column * 16 / size, row * 16 / size)
                // The later device is in front.
                let device = devices.last { contains($0.0, point) }
                let isOpaque = device.map { !contains($0.1, point) } ?? false
                pixels += isOpaque ? colour : [0, 0, 0, 0]
            }
        }
        return pixels
    }

    private static func contains(_ area: (Int, Int, Int, Int), _ point: (Int, Int)) -> Bool {
        (area.0..<area.2).contains(point.0) && (area.1..<area.3).contains(point.1)
    }
}
