import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer

// Why streaming failed.
extension CommandFailure {
    /// A transfer came to nothing.
    /// - Parameter advice: what is kept, and what to do next.
    static func transfer(_ failure: TransferFailure, advice: [String] = []) -> CommandFailure {
        CommandFailure(
            .failed, "TransferFailed", failure.description, advice: advice,
            details: ["reason": .string(failure.reason.rawValue)])
    }

    /// The activity that was continued has no streams.
    static func noStreams(device: String) -> CommandFailure {
        let failure = HandoffFailure.streamsUnsupported(device: device)
        return CommandFailure(
            .failed, "StreamFailed", "\(failure.message) (\(failure.code))",
            advice: ["it was published without --stream, or by an app that has none"], details: failure.json)
    }
}
