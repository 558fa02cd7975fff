import CSystemdBus
import LoopIO

/// A call that awaits a reply, or a match: the context of an sd-bus callback. Lives on the thread
/// of its bus.
final class BusCall {
    /// The sd-bus handle, set by the call that registers it.
    var slot: OpaquePointer?
    /// The bus that owns the call; nil for a match, which stays registered after a delivery.
    private weak var bus: LoopBus?
    private var handler: ((OpaquePointer?) -> Void)?

    /// - Parameters:
    ///   - bus: The bus to notify when the reply has been delivered; nil for a match.
    ///   - handler: Receives the message, which is valid during the call, or nil for an error.
    init(of bus: LoopBus?, _ handler: @escaping (OpaquePointer?) -> Void) {
        self.bus = bus
        self.handler = handler
    }

    deinit {
        cancel()
    }

    /// Cancels the call. Nothing is delivered afterwards.
    func cancel() {
        handler = nil
        sd_bus_slot_unref(slot)
        slot = nil
    }

    fileprivate func deliver(_ message: OpaquePointer?) {
        let isError = sd_bus_message_is_method_error(message, nil) > 0
        let handler = handler
        // Removed first, so that a call the handler makes is not mistaken for this one.
        bus?.ended(self)
        handler?(isError ? nil : message)
    }
}

/// Called by sd-bus on the thread of the bus, while the slot lives; the context is an unretained `BusCall`.
func busDidReply(
    _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let context else { return 0 }
    // The strong reference keeps the call alive while its handler releases it.
    Unmanaged<BusCall>.fromOpaque(context).takeUnretainedValue().deliver(message)
    return 0
}
