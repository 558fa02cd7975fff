import CSystemdBus
import LoopIO

/// A call whose reply is awaited, or a match: what sd-bus calls back. Lives on the thread of its bus.
final class BusCall {
    /// What sd-bus knows it by; filled in by the call that registers it.
    var slot: OpaquePointer?
    /// Whose call it is; nil for a match, which does not end by what is delivered.
    private weak var bus: LoopBus?
    private var handler: ((OpaquePointer?) -> Void)?

    /// - Parameters:
    ///   - bus: told when the reply was delivered; nil for a match.
    ///   - handler: gets the message, which lives during the call; nil for an error.
    init(of bus: LoopBus?, _ handler: @escaping (OpaquePointer?) -> Void) {
        self.bus = bus
        self.handler = handler
    }

    deinit {
        cancel()
    }

    /// Ends it: nothing is delivered any more.
    func cancel() {
        handler = nil
        sd_bus_slot_unref(slot)
        slot = nil
    }

    fileprivate func deliver(_ message: OpaquePointer?) {
        let isError = sd_bus_message_is_method_error(message, nil) > 0
        let handler = handler
        // First, so that what the handler begins is not taken for what has ended.
        bus?.ended(self)
        handler?(isError ? nil : message)
    }
}

/// Called by sd-bus on the thread of the bus, while the slot lives; the context is an unretained `BusCall`.
func busDidReply(
    _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let context else { return 0 }
    // The strong reference keeps it alive when it is let go.
    Unmanaged<BusCall>.fromOpaque(context).takeUnretainedValue().deliver(message)
    return 0
}
