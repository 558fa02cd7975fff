/// Something that is drawn. Places and sizes are in units of the paper, which is 760 by 380; a shape may hang over its
/// edges.
struct Shape: Equatable, Sendable {
    /// What it looks like.
    enum Kind: String, CaseIterable, Sendable {
        case circle
        case rectangle
        case triangle
    }

    /// What it is drawn with.
    enum Colour: String, CaseIterable, Sendable {
        case black
        case blue
        case green
        case red
        case yellow

        /// What stands for it in a picture of letters: its first one, and the last one of black, since blue has the
        /// same.
        var letter: Character {
            switch self {
            case .black: "k"
            case .blue: "b"
            case .green: "g"
            case .red: "r"
            case .yellow: "y"
            }
        }
    }

    var kind: Kind
    var colour: Colour
    /// Of its centre, from the left.
    var x: Int
    /// Of its centre, from the top.
    var y: Int
    var width: Int
    var height: Int

    /// What a place and a size may be: beyond is nothing to see, and nothing overflows.
    static let range = -10_000...10_000

    /// A shape; what is out of range is brought into it.
    init(_ kind: Kind, _ colour: Colour, x: Int, y: Int, width: Int, height: Int) {
        func bounded(_ number: Int) -> Int { min(max(number, Self.range.lowerBound), Self.range.upperBound) }
        self.kind = kind
        self.colour = colour
        self.x = bounded(x)
        self.y = bounded(y)
        self.width = max(bounded(width), 1)
        self.height = max(bounded(height), 1)
    }

    /// The same shape elsewhere.
    func moved(x: Int, y: Int) -> Shape {
        Shape(
            kind, colour, x: self.x.addingReportingOverflow(x).partialValue,
            y: self.y.addingReportingOverflow(y).partialValue, width: width, height: height)
    }
}
