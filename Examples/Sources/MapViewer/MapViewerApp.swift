import ExampleSupport
import Foundation
import HandoffKit

/// A map with the stores of a chain. The program is structured as an app with a delegate and view
/// controllers, and runs on the main run loop, as those of most toolkits do. Its Info.plist
/// declares the types that it continues. The plugin `HandoffInfo` copies it next to the program.
@main
@MainActor
enum MapViewerApp {
    private static let about = About(
        name: "MapViewer",
        summary: "Shows a map with the stores of a chain. The map and the open store can be continued.",
        commands: Region.commands + [
            ("open NUMBER", "opens a store"), ("favourite", "adds the open store to the favourites, or removes it"),
            ("close", "closes the store"),
        ],
        keys: Region.keys)

    static func main() {
        let terminal = Terminal(about)
        let application = HandoffApplication.shared
        if application.activityTypes.isEmpty {
            terminal.report("no Info.plist next to the program, so it cannot continue activities: run Examples/build")
        }
        let favourites = Favourites()
        let map = MapViewController(
            .init(report: { terminal.report($0) }, later: { terminal.after(.milliseconds(300), $0) }))
        terminal.picture = {
            MapPicture(
                region: map.region, annotations: map.annotations, popover: map.popover, favourites: favourites.numbers
            ).lines
        }
        application.report(to: terminal)
        let delegate = AppDelegate(map) { terminal.report($0) }
        application.delegate = delegate
        map.begin()
        terminal.readCommands { perform($0, on: map, favourites, terminal) }
        // The application's reference to the delegate is weak.
        withExtendedLifetime(delegate) { RunLoop.main.run() }
    }

    private static func perform(
        _ command: Command, on map: MapViewController, _ favourites: Favourites, _ terminal: Terminal
    ) {
        if let region = map.region.moved(by: command) { return map.show(region) }
        switch command.word {
        case "open":
            guard let store = Store.all.first(where: { $0.number == command.number(0) }) else { break }
            return map.open(store)
        case "close": return map.closePopover("by the user")
        case "favourite":
            guard let store = map.popover else { return terminal.report("open a store first") }
            do {
                let isFavourite = try favourites.toggle(store.number)
                return terminal.report("\(isFavourite ? "favourite" : "no longer favourite") \(store.number)")
            } catch {
                return terminal.report("cannot write the favourites: \(error.localizedDescription)")
            }
        default: break
        }
        terminal.reportInvalid(command)
    }
}
