/// The delays after which advertising stops when the user has left; nil means never.
struct SessionDelays: Sendable, Equatable {
    /// The delay after all screens have been locked.
    var lock: Duration? = .seconds(8)
    /// The delay after all screens have become idle.
    var idle: Duration? = .seconds(120)
}
