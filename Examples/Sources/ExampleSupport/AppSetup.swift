import Foundation
package import HandoffKit

extension HandoffApplication {
    /// Shows in the terminal whether there is a connection to the daemon, and what it says about activities. The callback queue is the
    /// main one.
    @MainActor
    package func report(to terminal: Terminal) {
        onConnectionChange = { isConnected, error in
            let state = isConnected ? "connected" : "not connected: \(error?.localizedDescription ?? "unknown reason")"
            MainActor.assumeIsolated { terminal.say(state) }
        }
        onDiagnostic = { activity, message, _ in
            MainActor.assumeIsolated { terminal.say("advice \(activity?.activityType ?? "-"): \(message)") }
        }
    }
}
