import CSystemdBus
import LoopIO

/// A message of a bus that is being written (sd_bus_message_append_basic(3)); the first error stays.
struct BusMessage {
    private let message: OpaquePointer
    /// Below 0 once something could not be written: the error, negative.
    private(set) var result: Int32 = 0

    /// A message of sd_bus_message_new_method_call(3), which stays the caller's.
    init(_ message: OpaquePointer) {
        self.message = message
    }

    /// `s`; nothing after a NUL.
    mutating func append(_ text: String) {
        note(sd_bus_message_append_basic(message, BusReader.type("s"), text))
    }

    /// `b`
    mutating func append(_ flag: Bool) {
        var value: Int32 = flag ? 1 : 0
        note(sd_bus_message_append_basic(message, BusReader.type("b"), &value))
    }

    /// `y`
    mutating func append(_ byte: UInt8) {
        var value = byte
        note(sd_bus_message_append_basic(message, BusReader.type("y"), &value))
    }

    /// `u`
    mutating func append(_ number: UInt32) {
        var value = number
        note(sd_bus_message_append_basic(message, BusReader.type("u"), &value))
    }

    /// `i`
    mutating func append(_ number: Int32) {
        var value = number
        note(sd_bus_message_append_basic(message, BusReader.type("i"), &value))
    }

    /// What `fill` writes, inside a container (sd_bus_message_open_container(3)).
    mutating func container(_ kind: Unicode.Scalar, _ content: String, _ fill: (inout BusMessage) -> Void) {
        note(sd_bus_message_open_container(message, BusReader.type(kind), content))
        guard result >= 0 else { return }
        fill(&self)
        note(sd_bus_message_close_container(message))
    }

    /// `(sv)` with a text.
    mutating func property(_ name: String, _ value: String) {
        property(name, signature: "s") { $0.append(value) }
    }

    /// `(sv)` with a value of this signature.
    mutating func property(_ name: String, signature: String, _ fill: (inout BusMessage) -> Void) {
        container("r", "sv") { pair in
            pair.append(name)
            pair.container("v", signature, fill)
        }
    }

    /// `{sv}` with a value of this signature.
    mutating func entry(_ name: String, signature: String, _ fill: (inout BusMessage) -> Void) {
        container("e", "sv") { pair in
            pair.append(name)
            pair.container("v", signature, fill)
        }
    }

    private mutating func note(_ result: Int32) {
        if self.result >= 0 { self.result = result }
    }
}
