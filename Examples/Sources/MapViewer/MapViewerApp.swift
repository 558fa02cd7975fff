import ExampleSupport
import Foundation
import HandoffKit

/// A map with the stores of a chain: a program in the shape of an app with a delegate and view controllers, which runs
/// on the main run loop, as those of most toolkits do. What it continues is declared in its Info.plist, which the plugin
/// `HandoffInfo` brings to where the program is.
@main
@MainActor
enum MapViewerApp {
    private static let about = About(
        name: "MapViewer",
        summary: "Shows a map with the stores of a chain. The map and the store that is open can be continued.",
        commands: Region.commands + [
            ("open NUMBER", "opens a store"), ("favourite", "likes the open store, or likes it no more"),
            ("close", "closes the store"),
        ],
        keys: Region.keys)

    static func main() {
        let terminal = Terminal(about)
        let application = HandoffApplication.shared
        if application.activityTypes.isEmpty {
            terminal.say("no Info.plist beside the program, so that it continues nothing: run Examples/build")
        }
        let favourites = Favourites()
        let map = MapViewController(
            .init(say: { terminal.say($0) }, later: { terminal.after(.milliseconds(300), $0) }))
        terminal.picture = {
            MapPicture(
                region: map.region, annotations: map.annotations, popover: map.popover, favourites: favourites.numbers
            ).lines
        }
        application.report(to: terminal)
        let delegate = AppDelegate(map) { terminal.say($0) }
        application.delegate = delegate
        map.begin()
        terminal.readCommands { perform($0, on: map, favourites, terminal) }
        // The application keeps no delegate alive.
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
            guard let store = map.popover else { return terminal.say("open a store first") }
            do {
                let isFavourite = try favourites.toggle(store.number)
                return terminal.say(isFavourite ? "favourite \(store.number)" : "no favourite \(store.number)")
            } catch {
                return terminal.say("cannot write the favourites: \(error.localizedDescription)")
            }
        default: break
        }
        terminal.misunderstood(command)
    }
}
