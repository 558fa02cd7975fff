import ExampleSupport

/// The map as text: land, the stores by number, and the popover of the open store.
struct MapPicture {
    let region: Region
    let annotations: [Store]
    let popover: Store?
    let favourites: Set<Int>

    /// The lines, framed.
    var lines: [String] {
        var canvas = Canvas(width: 76, height: 19)
        WorldMap.draw(region, on: &canvas)
        for store in annotations {
            let (column, row) = place(of: store, on: canvas)
            canvas.write(
                "(\(store.number)\(favourites.contains(store.number) ? "★" : ""))", column: column - 1, row: row)
        }
        if let popover { draw(popover, on: &canvas) }
        return canvas.framed("MapViewer  \(region.text)")
    }

    private func draw(_ store: Store, on canvas: inout Canvas) {
        let heart = favourites.contains(store.number) ? "★ favourite" : "☆ not a favourite"
        let text = ["\(store.number)  \(store.name)", store.address, heart]
        let width = (text.map(\.count).max() ?? 0) + 4
        let (column, row) = place(of: store, on: canvas)
        // Next to the pin, and inside the map.
        let left = column + 3 + width <= canvas.width ? column + 3 : column - 2 - width
        canvas.box(text, column: max(left, 0), row: min(max(row - 2, 0), canvas.height - 5))
    }

    private func place(of store: Store, on canvas: Canvas) -> (column: Int, row: Int) {
        let (x, y) = region.place(latitude: store.latitude, longitude: store.longitude)
        return (Int(x * Double(canvas.width)), Int(y * Double(canvas.height)))
    }
}
