import HandoffJSON

/// What was read from a source.
struct UserInfoReading: Equatable {
    let object: JSONObject
    /// Whether reading again could give something else: not so for the command line and for pipes.
    let mayChange: Bool
}
