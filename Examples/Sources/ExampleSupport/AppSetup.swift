import Foundation
package import HandoffKit

extension HandoffApplication {
    /// Shows the connection state and the daemon's messages about activities in the terminal. The
    /// callback queue must be the main queue.
    @MainActor
    package func report(to terminal: Terminal) {
        onConnectionChange = { isConnected, error in
            let state = isConnected ? "connected" : "not connected: \(error?.localizedDescription ?? "unknown reason")"
            MainActor.assumeIsolated { terminal.report(state) }
        }
        onDiagnostic = { activity, message, _ in
            MainActor.assumeIsolated { terminal.report("advice \(activity?.activityType ?? "-"): \(message)") }
        }
    }
}
