import LoopIO

/// What the daemon needs to know apps and to start them, from the process around it. Plain values.
package struct AppSurroundings: Sendable {
    /// Where apps say what they continue.
    package let places: HandlerPlaces
    /// What starts need.
    package let launching: AppLauncher.Settings

    /// No apps but those that attach, as in tests.
    package static let none = AppSurroundings(
        places: .none, launching: AppLauncher.Settings(environment: ["PATH": ""], socket: nil))

    /// - Parameters:
    ///   - environment: the variables of this process.
    ///   - socket: the path at which apps find this daemon, if it is in no usual place.
    package init(environment: [String: String], socket: String?) {
        self.init(
            places: HandlerPlaces(environment: environment),
            // Of a relative path programs in other folders would make another.
            launching: AppLauncher.Settings(
                environment: environment, socket: socket.flatMap { $0.hasPrefix("/") ? $0 : nil }))
    }

    private init(places: HandlerPlaces, launching: AppLauncher.Settings) {
        self.places = places
        self.launching = launching
    }
}
