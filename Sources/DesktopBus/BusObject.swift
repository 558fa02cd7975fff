import CSystemdBus
import LoopIO

/// An object that other programs on a bus call: the context of an sd-bus callback. Lives on the
/// thread of its bus.
final class BusObject {
    /// The reply to a call.
    enum Answer {
        /// A result with the values that the closure appends.
        case reply((inout BusMessage) -> Void = { _ in })
        /// A D-Bus error.
        case failure(name: String, String)

        /// An argument does not exist or is invalid.
        static func invalid(_ message: String) -> Answer {
            .failure(name: "org.freedesktop.DBus.Error.InvalidArgs", message)
        }
    }

    /// Serves a call. Receives the interface, the method, and the message, which is valid during the
    /// call. Returns nil for an unknown method. Throws if an argument cannot be read.
    typealias Handler = (_ interface: String, _ member: String, OpaquePointer) throws(Errno) -> Answer?

    /// The sd-bus handle, set by the call that registers it.
    var slot: OpaquePointer?
    private let handler: Handler

    init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    deinit {
        sd_bus_slot_unref(slot)
    }

    fileprivate func serve(_ call: OpaquePointer) -> Int32 {
        guard let interface = sd_bus_message_get_interface(call), let member = sd_bus_message_get_member(call) else {
            return 0
        }
        let answer: Answer?
        do throws(Errno) {
            answer = try handler(String(cString: interface), String(cString: member), call)
        } catch {
            answer = .invalid("the arguments cannot be read")
        }
        switch answer {
        case .reply(let fill): return Self.reply(to: call, fill)
        case .failure(let name, let message):
            return name.withCString { name in
                message.withCString { message in
                    var error = sd_bus_error(name: name, message: message, _need_free: 0)
                    return sd_bus_reply_method_error(call, &error)
                }
            }
        // sd-bus returns the error UnknownMethod.
        case nil: return 0
        }
    }

    private static func reply(to call: OpaquePointer, _ fill: (inout BusMessage) -> Void) -> Int32 {
        var pointer: OpaquePointer?
        let result = sd_bus_message_new_method_return(call, &pointer)
        guard result >= 0, let pointer else { return result }
        defer { sd_bus_message_unref(pointer) }
        var message = BusMessage(pointer)
        fill(&message)
        guard message.result >= 0 else { return message.result }
        let sent = sd_bus_send(nil, pointer, nil)
        return sent < 0 ? sent : 1
    }
}

/// Called by sd-bus on the thread of the bus, while the slot lives; the context is an unretained `BusObject`.
func busDidCall(
    _ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message, let context else { return 0 }
    // The strong reference keeps the object alive while its handler releases it.
    return Unmanaged<BusObject>.fromOpaque(context).takeUnretainedValue().serve(message)
}
