import CSystemdBus
import Glibc
import LoopIO

/// Reads consecutive values from a bus message (sd_bus_message_read_basic(3)).
enum BusReader {
    /// A letter of the D-Bus type system in the form that sd-bus expects.
    static func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

    /// Reads a string; `letter` is `s`, `o` or `g`.
    static func text(_ message: OpaquePointer, _ letter: Unicode.Scalar) throws(Errno) -> String {
        var text: UnsafePointer<CChar>?
        try Errno.check(sd_bus_message_read_basic(message, type(letter), &text))
        return text.map { String(cString: $0) } ?? ""
    }

    /// Reads an unsigned 32-bit number: `u`.
    static func number(_ message: OpaquePointer) throws(Errno) -> UInt32 {
        var value: UInt32 = 0
        try Errno.check(sd_bus_message_read_basic(message, type("u"), &value))
        return value
    }

    /// Reads a signed 32-bit number: `i`.
    static func integer(_ message: OpaquePointer) throws(Errno) -> Int32 {
        var value: Int32 = 0
        try Errno.check(sd_bus_message_read_basic(message, type("i"), &value))
        return value
    }

    /// Reads a list: `a` and the signature of an element. Skips elements beyond `limit`.
    static func list<Element>(
        _ message: OpaquePointer, _ signature: String, limit: Int,
        _ element: (OpaquePointer) throws(Errno) -> Element
    ) throws(Errno) -> [Element] {
        var elements: [Element] = []
        try Errno.check(sd_bus_message_enter_container(message, type("a"), signature))
        while try Errno.check(sd_bus_message_at_end(message, 0)) == 0 {
            let next = try element(message)
            if elements.count < limit { elements.append(next) }
        }
        try Errno.check(sd_bus_message_exit_container(message))
        return elements
    }

    /// Reads a Boolean: `b`.
    static func flag(_ message: OpaquePointer) throws(Errno) -> Bool {
        var value: Int32 = 0
        try Errno.check(sd_bus_message_read_basic(message, type("b"), &value))
        return value != 0
    }

    /// Reads a Boolean in a variant, the form of properties.
    static func variantFlag(_ message: OpaquePointer) throws(Errno) -> Bool {
        try Errno.check(sd_bus_message_enter_container(message, type("v"), "b"))
        return try flag(message)
    }

    /// Reads a string in a variant.
    static func variantText(_ message: OpaquePointer) throws(Errno) -> String {
        try Errno.check(sd_bus_message_enter_container(message, type("v"), "s"))
        return try text(message, "s")
    }

    /// Reads object paths in a variant (`ao`). Skips those beyond `limit`.
    static func variantPaths(_ message: OpaquePointer, limit: Int) throws(Errno) -> [String] {
        try Errno.check(sd_bus_message_enter_container(message, type("v"), "ao"))
        return try texts(message, "o", limit: limit)
    }

    /// Reads a descriptor: `h`. Returns a copy because the message closes its own.
    static func descriptor(_ message: OpaquePointer) throws(Errno) -> Descriptor {
        var borrowed: Int32 = -1
        try Errno.check(sd_bus_message_read_basic(message, type("h"), &borrowed))
        return Descriptor(owning: try SystemCall.retrying { fcntl(borrowed, F_DUPFD_CLOEXEC, 0) })
    }

    /// Reads a list of strings: `as`, or with another `letter` a list of that type. Skips those
    /// beyond `limit`.
    static func texts(
        _ message: OpaquePointer, _ letter: Unicode.Scalar = "s", limit: Int
    ) throws(Errno) -> [String] {
        try list(message, String(letter), limit: limit) { message throws(Errno) in try text(message, letter) }
    }
}
