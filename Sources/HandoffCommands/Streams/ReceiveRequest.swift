import HandoffControl

/// What the user asked `continue --output` to do.
struct ReceiveRequest {
    /// What is continued; this command is the handler.
    let activity: ContinueRequest
    /// Where the content goes: a file, a folder, or `-`.
    let output: String
    /// How long nothing may move before it is given up.
    let patience: Duration
}
