// A line of a terminal shows two rows of modules, since a character is about twice as high as it is wide.
extension QRCode {
    /// Light modules around the code: as many as the standard asks for.
    private static let quietZone = 4
    /// What readers in practice still find, for terminals without room.
    private static let narrowQuietZone = 2

    /// White on black from the fixed part of the 256-colour palette: what a theme calls white or black may be anything,
    /// and a reader wants dark modules on light ground whatever the terminal's own colours are.
    private static let colours = "\u{1B}[38;5;231;48;5;16m"
    private static let reset = "\u{1B}[0m"

    /// The code as lines of half blocks with their colours.
    /// - Parameter columns: how wide the terminal is.
    /// - Returns: nil when the code is wider than that.
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

    /// The character whose white part is the light modules.
    private static func block(upper: Bool, lower: Bool) -> String {
        switch (upper, lower) {
        case (false, false): "█"
        case (false, true): "▀"
        case (true, false): "▄"
        case (true, true): " "
        }
    }
}
