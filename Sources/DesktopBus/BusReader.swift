import CSystemdBus
import Glibc
import LoopIO

/// Reads values from a message of a bus, one after the other (sd_bus_message_read_basic(3)).
enum BusReader {
    /// A letter of the bus's type system as sd-bus takes it.
    static func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

    /// A text; `letter` is `s`, `o` or `g`.
    static func text(_ message: OpaquePointer, _ letter: Unicode.Scalar) throws(Errno) -> String {
        var text: UnsafePointer<CChar>?
        try Errno.check(sd_bus_message_read_basic(message, type(letter), &text))
        return text.map { String(cString: $0) } ?? ""
    }

    /// A number of 32 bits without sign: `u`.
    static func number(_ message: OpaquePointer) throws(Errno) -> UInt32 {
        var value: UInt32 = 0
        try Errno.check(sd_bus_message_read_basic(message, type("u"), &value))
        return value
    }

    /// A flag: `b`.
    static func flag(_ message: OpaquePointer) throws(Errno) -> Bool {
        var value: Int32 = 0
        try Errno.check(sd_bus_message_read_basic(message, type("b"), &value))
        return value != 0
    }

    /// A flag in a variant, as properties are.
    static func variantFlag(_ message: OpaquePointer) throws(Errno) -> Bool {
        try Errno.check(sd_bus_message_enter_container(message, type("v"), "b"))
        return try flag(message)
    }

    /// A text in a variant.
    static func variantText(_ message: OpaquePointer) throws(Errno) -> String {
        try Errno.check(sd_bus_message_enter_container(message, type("v"), "s"))
        return try text(message, "s")
    }

    /// The paths of objects in a variant (`ao`); what is beyond `limit` is passed over.
    static func variantPaths(_ message: OpaquePointer, limit: Int) throws(Errno) -> [String] {
        try Errno.check(sd_bus_message_enter_container(message, type("v"), "ao"))
        return try texts(message, "o", limit: limit)
    }

    /// A descriptor: `h`; a copy, since the message closes its own.
    static func descriptor(_ message: OpaquePointer) throws(Errno) -> Descriptor {
        var borrowed: Int32 = -1
        try Errno.check(sd_bus_message_read_basic(message, type("h"), &borrowed))
        return Descriptor(owning: try SystemCall.retrying { fcntl(borrowed, F_DUPFD_CLOEXEC, 0) })
    }

    /// A list of texts: `as`, or with another `letter` that of such; what is beyond `limit` is passed over.
    static func texts(
        _ message: OpaquePointer, _ letter: Unicode.Scalar = "s", limit: Int
    ) throws(Errno) -> [String] {
        var texts: [String] = []
        try Errno.check(sd_bus_message_enter_container(message, type("a"), String(letter)))
        while try Errno.check(sd_bus_message_at_end(message, 0)) == 0 {
            let next = try text(message, letter)
            if texts.count < limit { texts.append(next) }
        }
        try Errno.check(sd_bus_message_exit_container(message))
        return texts
    }
}
