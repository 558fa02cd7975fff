/// What a descriptor is watched for, and what the kernel says about it (the EPOLL… bits of epoll_ctl(2)).
package struct IOEvents: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// EPOLLIN: reading will not wait; also at the end of the stream.
    package static let readable = IOEvents(rawValue: 0x001)
    /// EPOLLOUT: writing will not wait.
    package static let writable = IOEvents(rawValue: 0x004)
    /// EPOLLERR: an error is pending. Arrives whether asked for or not.
    package static let error = IOEvents(rawValue: 0x008)
    /// EPOLLHUP: both directions have ended. Arrives whether asked for or not.
    package static let hangUp = IOEvents(rawValue: 0x010)
    /// EPOLLRDHUP: the other end writes no more.
    package static let readHangUp = IOEvents(rawValue: 0x2000)
}
