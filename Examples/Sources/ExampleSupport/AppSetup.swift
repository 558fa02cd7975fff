import Foundation
package import HandoffKit

extension HandoffApplication {
    /// Shows in the terminal whether there is a connection to the daemon, and what it says about activities.
    @MainActor
    package func report(to terminal: Terminal) {
        onConnectionChange = { isConnected, error in
            terminal.say(
                isConnected ? "connected" : "not connected: \(error?.localizedDescription ?? "unknown reason")")
        }
        onDiagnostic = { activity, message, _ in
            terminal.say("advice \(activity?.activityType ?? "-"): \(message)")
        }
    }
}
