import HandoffModel
import LoopIO

/// An app that the session bus starts and wakes (Desktop Entry Specification, "D-Bus Activation").
///
/// The bus starts the app outside this process's unit and sandbox.
package struct BusApp: Sendable, Equatable {
    /// A reason why the app could not be activated.
    package enum Problem: Error, Equatable, Sendable {
        /// There is no session bus.
        case noBus(String)
        /// The bus could not start the app, or the app returned an error. The value is the error
        /// message.
        case failed(String)
    }

    private static let interface = "org.freedesktop.Application"

    /// The app's bus name.
    package let name: String
    /// The app's object path.
    package let path: String
    /// The activation token that lets the app come to the front.
    package let token: String?

    package init(name: String, path: String, token: String?) {
        self.name = name
        self.path = path
        self.token = token
    }

    /// Activates the app (`Activate`). The bus starts it if it is not running. Blocks: use a
    /// separate thread.
    ///
    /// - Parameter timeout: The time to wait for a reply. An app that has not replied by then is
    ///   still starting.
    /// - Throws: `Problem`; after `.noBus` nothing was started.
    package func activate(within timeout: Duration) throws(Problem) {
        let bus: UserBus
        do throws(UserBus.Failure) {
            bus = try UserBus()
        } catch {
            throw .noBus(error.message)
        }
        let clock = ContinuousClock()
        let began = clock.now
        do throws(UserBus.Failure) {
            try bus.call(name, path, Self.interface, "Activate", activates: true, within: timeout) { message in
                message.container("a", "{sv}") { platform in
                    guard let token else { return }
                    // The first key is for Wayland, the second for X11.
                    for name in ["activation-token", "desktop-startup-id"] {
                        platform.entry(name, signature: "s") { $0.append(token) }
                    }
                }
            }
        } catch {
            // The app is running; it only lacks the method.
            if error.isAboutMethod { return }
            // The bus returns the same error earlier if the app exits without a reply.
            if error.isNoReply, clock.now - began >= timeout { return }
            throw .failed(error.message)
        }
    }
}
