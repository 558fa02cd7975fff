import LoopIO
import Timing

/// An app that the session bus starts and wakes (Desktop Entry Specification, "D-Bus Activation").
///
/// What the bus starts is outside of our unit, and of its sandbox.
package struct BusApp: Sendable, Equatable {
    /// Why the app was not reached.
    package enum Problem: Error, Equatable, Sendable {
        /// There is no session bus.
        case noBus(String)
        /// The bus could not start the app, or the app failed; their words.
        case failed(String)
    }

    private static let interface = "org.freedesktop.Application"

    /// The app's name on the bus.
    package let name: String
    /// Its object.
    package let path: String
    /// Lets it come to the front.
    package let token: String?

    package init(name: String, path: String, token: String?) {
        self.name = name
        self.path = path
        self.token = token
    }

    /// Asks the app to show itself (`Activate`); the bus starts it where it does not run. Waits: for a thread of its own.
    ///
    /// - Parameter patience: how long it is waited for; an app that has not answered then is still at its start.
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
                    // The first is of Wayland, the second of X11.
                    for name in ["activation-token", "desktop-startup-id"] {
                        platform.entry(name, signature: "s") { $0.append(token) }
                    }
                }
            }
        } catch {
            // It runs, whatever it makes of the call.
            if error.isAboutMethod { return }
            // A bus whose app went away without an answer has the same error.
            if error.isNoReply, clock.now - began >= timeout { return }
            throw .failed(error.message)
        }
    }
}
