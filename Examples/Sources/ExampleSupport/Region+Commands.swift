extension Region {
    /// The commands that move a map.
    package static let commands = [
        (usage: "pan n|s|e|w", meaning: "moves the map"), (usage: "zoom in|out", meaning: "changes the scale"),
        (usage: "go LAT LON", meaning: "shows a location, in degrees"), (usage: "world", meaning: "shows the world"),
    ]

    /// The keys that move a map.
    package static let keys = [
        "up": "pan n", "down": "pan s", "left": "pan w", "right": "pan e", "+": "zoom in", "-": "zoom out",
    ]

    /// Returns the region after one of these commands.
    /// - Returns: nil for any other command.
    package func moved(by command: Command) -> Region? {
        switch (command.word, command.argument(0)) {
        case ("pan", let name?): return Direction(rawValue: name).map(panned)
        case ("zoom", "in"): return zoomed(by: 0.5)
        case ("zoom", "out"): return zoomed(by: 2)
        case ("world", nil): return .world
        case ("go", _):
            guard let latitude = command.decimal(0), let longitude = command.decimal(1) else { return nil }
            return Region(
                latitude: latitude, longitude: longitude, latitudeSpan: latitudeSpan, longitudeSpan: longitudeSpan)
        default: return nil
        }
    }
}
