import CSystemd

/// A watched descriptor or signal of a loop. Used on the loop's thread only; dropping it ends the watch.
///
/// Its owner cancels it before it closes the descriptor: then no event can reach a number that was given out again.
package final class EventSource {
    private let loop: EventLoop
    private var source: OpaquePointer?
    private var handler: ((IOEvents) -> Void)?
    private var events: IOEvents

    /// Watches a descriptor (sd_event_add_io(3)), level-triggered. No events: it waits disabled.
    init(loop: EventLoop, descriptor: Int32, events: IOEvents, handler: @escaping (IOEvents) -> Void) throws(Errno) {
        self.loop = loop
        self.handler = handler
        self.events = events
        // Unretained: deinit and cancel release the source, after which sd-event does not call back.
        let context = Unmanaged.passUnretained(self).toOpaque()
        let result = sd_event_add_io(loop.event, &source, descriptor, events.rawValue, didPoll, context)
        try Errno.check(result)
        if events.isEmpty { sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF)) }
    }

    /// Watches a signal (sd_event_add_signal(3)) that all threads block, see `ProcessSignals`.
    init(loop: EventLoop, signal: Int32, handler: @escaping () -> Void) throws(Errno) {
        self.loop = loop
        self.handler = { _ in handler() }
        events = .readable
        let context = Unmanaged.passUnretained(self).toOpaque()
        let result = sd_event_add_signal(loop.event, &source, signal, didSignal, context)
        try Errno.check(result)
    }

    deinit {
        cancel()
    }

    /// Sets what is watched for. With nothing the source is off, so that HUP and ERR, which cannot be masked, do not
    /// call the handler over and over.
    package func setEvents(_ wanted: IOEvents) {
        loop.assertOwned()
        guard let source, wanted != events else { return }
        events = wanted
        if wanted.isEmpty {
            sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
        } else {
            // Both fail only for a descriptor that was closed behind our back.
            let result = sd_event_source_set_io_events(source, wanted.rawValue)
            assert(result >= 0, "descriptor closed before its source: \(Errno(rawValue: 0 &- result))")
            sd_event_source_set_enabled(source, Int32(SD_EVENT_ON))
        }
    }

    /// Ends the watch and lets go of the handler; from now on it is not called, not even for an event that waits.
    package func cancel() {
        guard let source else { return }
        loop.assertOwned()
        sd_event_source_disable_unref(source)
        self.source = nil
        handler = nil
    }

    fileprivate func deliver(_ events: IOEvents) {
        handler?(events)
    }
}

/// Called by sd-event on the loop's thread while the source lives.
private func didPoll(_: OpaquePointer?, _: Int32, events: UInt32, context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    // The strong reference keeps it alive when its handler drops it.
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
