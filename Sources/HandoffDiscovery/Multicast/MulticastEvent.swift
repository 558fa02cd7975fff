/// What a library tells its driver.
package enum MulticastEvent: Equatable, Sendable {
    /// Browsers and groups can be made now.
    case running
    /// There is no daemon to talk to, but the library waits for it by itself.
    case waiting(String)
    /// It is over: the driver closes the library, and opens it again after a while.
    case lost(String)
    /// The library must be closed and opened again at once.
    case restart(String)
    case appeared(RecordQuery, RecordLink, [UInt8])
    case vanished(RecordQuery, RecordLink, [UInt8])
    case allForNow(RecordQuery)
    /// The browser of that query has failed.
    case browserFailed(RecordQuery, String)
    case groupEstablished(UInt64)
    /// Somebody else has a name of that group.
    case groupCollided(UInt64)
    case groupFailed(UInt64, String)
}
