/// A shape in a drawing. Positions and sizes are in units of the paper, which is 760 by 380. A
/// shape may extend beyond its edges.
struct Shape: Equatable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case circle
        case rectangle
        case triangle
    }

    enum Colour: String, CaseIterable, Sendable {
        case black
        case blue
        case green
        case red
        case yellow

        /// The letter that represents the colour in a picture: its first letter or, for black, its
        /// last, because blue has the same first letter.
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
    /// The centre, from the left.
    var x: Int
    /// The centre, from the top.
    var y: Int
    var width: Int
    var height: Int

    /// The range of positions and sizes. Beyond it nothing is visible, and within it no calculation
    /// overflows.
    static let range = -10_000...10_000

    /// Creates a shape. Values out of range are clamped.
    init(_ kind: Kind, _ colour: Colour, x: Int, y: Int, width: Int, height: Int) {
        func bounded(_ number: Int) -> Int { min(max(number, Self.range.lowerBound), Self.range.upperBound) }
        self.kind = kind
        self.colour = colour
        self.x = bounded(x)
        self.y = bounded(y)
        self.width = max(bounded(width), 1)
        self.height = max(bounded(height), 1)
    }

    /// Returns the same shape at another position.
    func moved(x: Int, y: Int) -> Shape {
        Shape(
            kind, colour, x: self.x.addingReportingOverflow(x).partialValue,
            y: self.y.addingReportingOverflow(y).partialValue, width: width, height: height)
    }
}
