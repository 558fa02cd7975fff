import CLinux

/// An epoll(7) instance that reports one event at a time, for loops on which each microsecond
/// counts.
///
/// After a pause, sd-event needs about 25 µs from the end of a wait to the handler, because most of
/// its memory is no longer in the processor's caches. This needs about 5 µs. sd-event's own
/// descriptor is one of those that it polls.
final class DescriptorPoll {
    private let descriptor: Descriptor

    /// - Parameter event: the descriptor of an sd-event loop.
    init(with event: Int32) throws(Errno) {
        descriptor = Descriptor(owning: try SystemCall.retrying { clinux_poll_create() })
        let raw = descriptor.raw
        try SystemCall.retrying {
            clinux_poll_change(raw, CLINUX_POLL_ADD, event, IOEvents.readable.rawValue, nil)
        }
    }

    /// Starts, changes or ends the watch of a descriptor.
    /// - Parameter context: reported with the events of the descriptor.
    func change(
        _ number: Int32, from old: IOEvents, to new: IOEvents, _ context: UnsafeMutableRawPointer
    ) throws(Errno) {
        guard old != new else { return }
        let change =
            old.isEmpty ? CLINUX_POLL_ADD : new.isEmpty ? CLINUX_POLL_REMOVE : CLINUX_POLL_MODIFY
        let raw = descriptor.raw
        try SystemCall.retrying { clinux_poll_change(raw, change, number, new.rawValue, context) }
    }

    /// Waits for an event. The descriptors that are ready take turns.
    /// - Returns: nil after the timeout or a signal; a context of nil for an event of sd-event.
    func wait(forever: Bool) throws(Errno) -> (context: UnsafeMutableRawPointer?, events: IOEvents)? {
        var events: UInt32 = 0
        var context: UnsafeMutableRawPointer?
        let count = clinux_poll_wait(descriptor.raw, forever ? -1 : 0, &events, &context)
        guard count >= 0 else {
            let error = Errno.current
            if error == .interrupted { return nil }
            throw error
        }
        return count == 0 ? nil : (context, IOEvents(rawValue: events))
    }
}
