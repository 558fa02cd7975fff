import ExampleSupport
import HandoffKit

/// A map of the world whose viewport can be continued on another device: the smallest of the
/// examples. It declares in code the types that it continues.
@main
@MainActor
enum MapOffApp {
    private static let about = About(
        name: "MapOff",
        summary: "Shows a map. The visible region can be continued.",
        commands: Region.commands,
        keys: Region.keys)

    static func main() async {
        let terminal = Terminal(about)
        let map = MapController { terminal.report($0) }
        terminal.picture = {
            var canvas = Canvas(width: 76, height: 19)
            WorldMap.draw(map.region, on: &canvas)
            return canvas.framed("MapOff  \(map.region.text)")
        }
        let application = HandoffApplication.shared
        application.configuration = HandoffApplication.Configuration(
            identifier: "com.example.mapoff", version: "1.0", teamIdentifier: "EXAMPLES",
            activityTypes: [MapController.activityType])
        application.report(to: terminal)
        let delegate = AppDelegate(map) { terminal.report($0) }
        application.delegate = delegate
        map.viewDidLoad()
        for await command in terminal.commands() {
            if let region = map.region.moved(by: command) { map.show(region) } else { terminal.reportInvalid(command) }
        }
        // The application's reference to the delegate is weak.
        withExtendedLifetime(delegate) { terminal.quit() }
    }
}
