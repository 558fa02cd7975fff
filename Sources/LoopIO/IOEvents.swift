/// The events a descriptor is watched for, and the events the kernel reports (the EPOLL… bits of
/// epoll_ctl(2)).
package struct IOEvents: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// EPOLLIN: reading does not block. Also set at the end of the stream.
    package static let readable = IOEvents(rawValue: 0x001)
    /// EPOLLOUT: writing does not block.
    package static let writable = IOEvents(rawValue: 0x004)
    /// EPOLLERR: an error is pending. Reported even if not requested.
    package static let error = IOEvents(rawValue: 0x008)
    /// EPOLLHUP: both directions have ended. Reported even if not requested.
    package static let hangUp = IOEvents(rawValue: 0x010)
    /// EPOLLRDHUP: the peer has finished writing.
    package static let readHangUp = IOEvents(rawValue: 0x2000)
}
