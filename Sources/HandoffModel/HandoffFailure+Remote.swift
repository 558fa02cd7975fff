extension HandoffFailure {
    /// Reasons that arise on the device that continues, and are none of another device's to give.
    private static let ownReasons: Set<String> = [
        "peerUnreachable", "notMember", "cancelled", "timedOut", "noHandler", "launchFailed", "appNotAttached",
        "pageNotOpened", "handlerGone", "handlerTimedOut", "handlerRefused", "invalidPayload", "notContinued",
        // What the log of continuations says where nothing has failed.
        "continued", "given",
    ]

    /// What another device answered instead of what it was asked for, as this device passes it on: what it may say of itself in
    /// our words, everything else as its own. So nobody takes the advice of another device for that of this one.
    ///
    /// - Parameter device: what the device is called here.
    package func told(by device: String) -> HandoffFailure {
        switch reason {
        case "unknownActivity": .unknownActivity(device: device)
        case "ownerGone": .ownerGone(device: device)
        case "paused": .paused(device: device)
        case "streamsUnsupported": .streamsUnsupported(device: device)
        case "tooManyStreams": .tooManyStreams(device: device)
        case _ where Self.ownReasons.contains(reason) || !Self.isWord(reason):
            .rejected(device: device, cause: "it says: \(message)")
        default: HandoffFailure(code: code, reason: reason, message: "\(device) says: \(message)")
        }
    }

    /// Whether a reason is a word as programs know them: a log shows it beside words of this device.
    private static func isWord(_ reason: String) -> Bool {
        !reason.isEmpty && reason.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
    }
}
