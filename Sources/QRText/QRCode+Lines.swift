// A line of a terminal shows two rows of modules, since a character is about twice as high as it is wide.
extension QRCode {
    /// The width of the light margin that the standard requires, in modules.
    private static let quietZone = 4
    /// A narrower margin, which most readers accept, for narrow terminals.
    private static let narrowQuietZone = 2

    /// White on black from the fixed part of the 256-colour palette. Themes can redefine their
    /// white and black, but readers require dark modules on a light background.
    private static let colours = "\u{1B}[38;5;231;48;5;16m"
    private static let reset = "\u{1B}[0m"

    /// Returns the code as lines of coloured half blocks.
    /// - Parameter columns: the width of the terminal.
    /// - Returns: nil if the code is wider.
    package func lines(columns: Int) -> [String]? {
        let zones = [Self.quietZone, Self.narrowQuietZone]
        guard let zone = zones.first(where: { size + 2 * $0 <= columns }) else { return nil }
        return stride(from: -zone, to: size + zone, by: 2).map { row in
            let blocks = (-zone..<size + zone).map { column in
                Self.block(upper: isDark(row: row, column: column), lower: isDark(row: row + 1, column: column))
            }
            return Self.colours + blocks.joined() + Self.reset
        }
    }

    /// Returns the character for two modules, one above the other. Light modules are drawn.
    private static func block(upper: Bool, lower: Bool) -> String {
        switch (upper, lower) {
        case (false, false): "█"
        case (false, true): "▀"
        case (true, false): "▄"
        case (true, true): " "
        }
    }
}
