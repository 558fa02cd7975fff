/// How long what is advertised outlives its user's presence; nil: for ever.
package struct SessionDelays: Sendable, Equatable {
    /// After all screens were locked.
    package var lock: Duration?
    /// After all of them fell idle.
    package var idle: Duration?

    package init(lock: Duration? = .seconds(8), idle: Duration? = .seconds(120)) {
        self.lock = lock
        self.idle = idle
    }
}
