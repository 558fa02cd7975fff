import CSystemd

/// A watch of a descriptor or signal by a loop. Use it on the loop's thread only. Releasing it ends
/// the watch.
///
/// The owner cancels it before closing the descriptor, so that no event is reported for a reused
/// number.
package final class EventSource {
    private let loop: EventLoop
    /// The descriptor, if the loop polls it itself.
    private let descriptor: Int32?
    private var source: OpaquePointer?
    private var handler: ((IOEvents) -> Void)?
    private var events: IOEvents

    /// Watches a descriptor (sd_event_add_io(3)), level-triggered. If `events` is empty, the source
    /// is created disabled.
    init(loop: EventLoop, descriptor: Int32, events: IOEvents, handler: @escaping (IOEvents) -> Void) throws(Errno) {
        self.loop = loop
        self.handler = handler
        self.events = events
        self.descriptor = loop.poll == nil ? nil : descriptor
        // Unretained: deinit and cancel end the watch, and no event is reported afterwards.
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard loop.poll == nil else {
            try loop.poll?.change(descriptor, from: [], to: events, context)
            return
        }
        let result = sd_event_add_io(loop.event, &source, descriptor, events.rawValue, didPoll, context)
        try Errno.check(result)
        if events.isEmpty { sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF)) }
    }

    /// Watches a signal (sd_event_add_signal(3)) that all threads block, see `ProcessSignals`.
    init(loop: EventLoop, signal: Int32, handler: @escaping () -> Void) throws(Errno) {
        self.loop = loop
        self.handler = { _ in handler() }
        descriptor = nil
        events = .readable
        let context = Unmanaged.passUnretained(self).toOpaque()
        let result = sd_event_add_signal(loop.event, &source, signal, didSignal, context)
        try Errno.check(result)
    }

    deinit {
        cancel()
    }

    /// Sets the events to watch for. An empty set disables the source: EPOLLHUP and EPOLLERR cannot
    /// be masked, and would otherwise call the handler continuously.
    package func setEvents(_ wanted: IOEvents) {
        loop.assertOwned()
        guard handler != nil, wanted != events else { return }
        if let descriptor { return poll(descriptor, for: wanted) }
        guard let source else { return }
        events = wanted
        if wanted.isEmpty {
            sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
        } else {
            // Both calls fail only if other code has closed the descriptor.
            let result = sd_event_source_set_io_events(source, wanted.rawValue)
            assert(result >= 0, "descriptor closed before its source: \(Errno(rawValue: 0 &- result))")
            sd_event_source_set_enabled(source, Int32(SD_EVENT_ON))
        }
    }

    /// Ends the watch and releases the handler. The handler is not called afterwards, even if an
    /// event is pending.
    package func cancel() {
        guard handler != nil else { return }
        loop.assertOwned()
        if let descriptor { poll(descriptor, for: []) }
        sd_event_source_disable_unref(source)
        source = nil
        handler = nil
    }

    private func poll(_ descriptor: Int32, for wanted: IOEvents) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        do throws(Errno) {
            try loop.poll?.change(descriptor, from: events, to: wanted, context)
        } catch {
            assert(wanted.isEmpty, "descriptor closed before its source: \(error)")
        }
        events = wanted
    }

    /// Calls the handler of a source that the loop polls itself.
    static func deliver(_ events: IOEvents, to context: UnsafeMutableRawPointer) {
        // The strong reference keeps the source alive if its handler releases it.
        Unmanaged<EventSource>.fromOpaque(context).takeUnretainedValue().deliver(events)
    }

    fileprivate func deliver(_ events: IOEvents) {
        handler?(events)
    }
}

/// Called by sd-event on the loop's thread as long as the source exists.
private func didPoll(_: OpaquePointer?, _: Int32, events: UInt32, context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    // The strong reference keeps the source alive if its handler releases it.
    Unmanaged<EventSource>.fromOpaque(context).takeUnretainedValue().deliver(IOEvents(rawValue: events))
    return 0
}

private func didSignal(
    _: OpaquePointer?, _: UnsafePointer<signalfd_siginfo>?, context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<EventSource>.fromOpaque(context).takeUnretainedValue().deliver(.readable)
    return 0
}
