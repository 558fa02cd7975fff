import ExampleSupport

extension Drawing {
    /// The maximum number of shapes in the picture: the newest ones are drawn.
    private static let shown = 400

    /// Returns the drawing with each shape in the letter of its colour, in upper case for the
    /// selected shape.
    /// - Parameter selected: the number of that shape, from 1.
    func picture(selected: Int?, _ title: String) -> [String] {
        var canvas = Canvas(width: 76, height: 19)
        for (offset, shape) in shapes.enumerated().suffix(Self.shown) where offset + 1 != selected {
            Self.draw(shape, isSelected: false, on: &canvas)
        }
        if let selected, shapes.indices.contains(selected - 1) {
            Self.draw(shapes[selected - 1], isSelected: true, on: &canvas)
        }
        return canvas.framed("Shapes  \(title.printable)")
    }

    private static func draw(_ shape: Shape, isSelected: Bool, on canvas: inout Canvas) {
        let letter = shape.colour.letter
        let ink = isSelected ? Character(letter.uppercased()) : letter
        // A character is ten units wide and twenty high.
        let columns = (shape.x - shape.width / 2) / 10...(shape.x + shape.width / 2) / 10
        let rows = (shape.y - shape.height / 2) / 20...(shape.y + shape.height / 2) / 20
        for row in rows.clamped(to: 0...canvas.height - 1) {
            for column in columns.clamped(to: 0...canvas.width - 1) where columns.contains(column) && rows.contains(row)
            {
                // From −1 to 1 inside the shape.
                let x = (Double(column * 10 + 5 - shape.x)) / (Double(shape.width) / 2 + 5)
                let y = (Double(row * 20 + 10 - shape.y)) / (Double(shape.height) / 2 + 10)
                let isInside =
                    switch shape.kind {
                    case .rectangle: true
                    case .circle: x * x + y * y <= 1
                    case .triangle: abs(x) <= (y + 1) / 2
                    }
                if isInside { canvas[column, row] = ink }
            }
        }
    }
}
