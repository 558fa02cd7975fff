/// A document: its properties, and its shapes in drawing order.
struct Drawing: Equatable, Sendable {
    var title = "Untitled"
    var author = ""
    var shapes: [Shape] = []

    init() {}

    /// An error in the text of a drawing.
    enum Problem: Error, Equatable, CustomStringConvertible {
        /// The start is invalid.
        case noDrawing
        /// A line that is not a shape; counted from 1.
        case line(Int)

        var description: String {
            switch self {
            case .noDrawing: "it does not start with 'drawing 1'"
            case .line(let number): "line \(number) is not a shape"
            }
        }
    }

    /// Reads the text of a drawing.
    /// - Throws: the error and its line.
    init(text: some Sequence<UInt8>) throws(Problem) {
        let lines = Array(text).split(separator: 0x0A, omittingEmptySubsequences: true)
        guard lines.count >= 3, String(decoding: lines[0], as: UTF8.self) == "drawing 1" else { throw .noDrawing }
        title = try Self.property("title", lines[1])
        author = try Self.property("author", lines[2])
        shapes.reserveCapacity(lines.count - 3)
        for (number, line) in lines.enumerated().dropFirst(3) {
            guard let shape = Self.shape(line) else { throw .line(number + 1) }
            shapes.append(shape)
        }
    }

    private static func property(_ name: String, _ line: ArraySlice<UInt8>) throws(Problem) -> String {
        let text = String(decoding: line, as: UTF8.self)
        guard text == name || text.hasPrefix(name + " ") else { throw .noDrawing }
        return String(text.dropFirst(name.count + 1))
    }

    private static func shape(_ line: ArraySlice<UInt8>) -> Shape? {
        let words = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 6, let kind = Shape.Kind(rawValue: words[0]),
            let colour = Shape.Colour(rawValue: words[1]),
            let x = Int(words[2]), let y = Int(words[3]), let width = Int(words[4]), let height = Int(words[5])
        else { return nil }
        return Shape(kind, colour, x: x, y: y, width: width, height: height)
    }

    /// The drawing as text, with one line per shape.
    var text: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(shapes.count * 32 + 100)
        bytes += "drawing 1\ntitle \(Self.oneLine(title))\nauthor \(Self.oneLine(author))\n".utf8
        for shape in shapes {
            bytes += "\(shape.kind.rawValue) \(shape.colour.rawValue) \(shape.x) \(shape.y) ".utf8
            bytes += "\(shape.width) \(shape.height)\n".utf8
        }
        return bytes
    }

    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }

    /// Adds pseudo-random shapes, which are the same at each call.
    mutating func scribble(_ count: Int) {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random(_ below: Int) -> Int {
            // Xorshift, by Marsaglia.
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(below))
        }
        for _ in 0..<max(count, 0) {
            shapes.append(
                Shape(
                    Shape.Kind.allCases[random(3)], Shape.Colour.allCases[random(5)], x: random(760), y: random(380),
                    width: 10 + random(90), height: 10 + random(90)))
        }
    }
}
