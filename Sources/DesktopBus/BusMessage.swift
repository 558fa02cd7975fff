import CSystemdBus
import LoopIO

/// A bus message under construction (sd_bus_message_append_basic(3)). Keeps the first error.
struct BusMessage {
    private let message: OpaquePointer
    /// Negative after a write error: the negated error number.
    private(set) var result: Int32 = 0

    /// Wraps a new message, which the caller continues to own.
    init(_ message: OpaquePointer) {
        self.message = message
    }

    /// `s`; ends at the first NUL.
    mutating func append(_ text: String) {
        note(sd_bus_message_append_basic(message, BusReader.type("s"), text))
    }

    /// `o`
    mutating func append(path: String) {
        note(sd_bus_message_append_basic(message, BusReader.type("o"), path))
    }

    /// `ay`
    mutating func append(_ bytes: [UInt8]) {
        note(sd_bus_message_append_array(message, BusReader.type("y"), bytes, bytes.count))
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

    /// Writes a container with the content that `fill` appends (sd_bus_message_open_container(3)).
    mutating func container(_ kind: Unicode.Scalar, _ content: String, _ fill: (inout BusMessage) -> Void) {
        note(sd_bus_message_open_container(message, BusReader.type(kind), content))
        guard result >= 0 else { return }
        fill(&self)
        note(sd_bus_message_close_container(message))
    }

    /// `(sv)` with a string.
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

    /// `v`
    mutating func variant(_ signature: String, _ fill: (inout BusMessage) -> Void) {
        container("v", signature, fill)
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
