/// The delays after which advertising stops when the user has left; nil means never.
package struct SessionDelays: Sendable, Equatable {
    /// The delay after all screens have been locked.
    package var lock: Duration?
    /// The delay after all screens have become idle.
    package var idle: Duration?

    package init(lock: Duration? = .seconds(8), idle: Duration? = .seconds(120)) {
        self.lock = lock
        self.idle = idle
    }
}
