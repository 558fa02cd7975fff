import HandoffModel
import LoopIO

/// The type of a setting: how a value is read from text and written, and which text is allowed.
struct SettingType<Value: Sendable>: Sendable {
    /// The allowed values, as the end of an error message.
    let allowed: String

    /// Returns nil for text that is not allowed.
    let parse: @Sendable (String) -> Value?

    /// Returns the text of a value; empty for nil, which has no text.
    let text: @Sendable (Value) -> String
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable {
    /// One of the values of an enumeration, by its raw value.
    static var choice: SettingType {
        SettingType(
            allowed: "one of: " + Value.allCases.map(\.rawValue).joined(separator: ", "),
            parse: { Value(rawValue: $0) }, text: { $0.rawValue })
    }
}

extension SettingType {
    /// A value that is nil by default.
    static func optional<Wrapped>(_ type: SettingType<Wrapped>) -> SettingType where Value == Wrapped? {
        SettingType(
            allowed: type.allowed, parse: { text in type.parse(text).map { .some($0) } },
            text: { $0.map(type.text) ?? "" })
    }
}

extension SettingType<Bool> {
    /// One of two words.
    static func either(_ yes: String, or no: String) -> SettingType {
        SettingType(
            allowed: "'\(yes)' or '\(no)'", parse: { [yes: true, no: false][$0] }, text: { $0 ? yes : no })
    }
}

extension SettingType<Int> {
    /// A number of bytes in a range.
    static func byteCount(_ range: ClosedRange<Int>) -> SettingType {
        SettingType(
            allowed: "a size from \(ValueText.text(byteCount: range.lowerBound)) to "
                + "\(ValueText.text(byteCount: range.upperBound)), in bytes or with the unit KiB or MiB",
            parse: { ValueText.byteCount($0, in: range) }, text: { ValueText.text(byteCount: $0) })
    }
}

extension SettingType<Duration> {
    /// A time in a range. `units` are those that the error message recommends.
    static func duration(_ range: ClosedRange<Duration>, units: String = "ms, s, min or h") -> SettingType {
        SettingType(
            allowed: "a time from \(ValueText.text(range.lowerBound)) to \(ValueText.text(range.upperBound)), "
                + "with the unit \(units)",
            parse: { ValueText.duration($0, in: range) }, text: { ValueText.text($0) })
    }
}

extension SettingType<Duration?> {
    /// A time in a range, or `never`, which is nil.
    static func durationOrNever(
        _ range: ClosedRange<Duration>, units: String = "ms, s, min or h"
    ) -> SettingType {
        let duration = SettingType<Duration>.duration(range, units: units)
        return SettingType(
            allowed: "'never', or \(duration.allowed)",
            parse: { $0 == "never" ? .some(nil) : duration.parse($0).map { .some($0) } },
            text: { $0.map(duration.text) ?? "never" })
    }
}

extension SettingType<String> {
    /// A name to display, of 1 to `maxBytes` bytes.
    static func displayName(maxBytes: Int) -> SettingType {
        SettingType(
            allowed: "1 to \(maxBytes) bytes of text without control characters",
            parse: { ValueText.displayName($0, limit: maxBytes) }, text: { $0 })
    }

    static let interface = SettingType(
        allowed: "the name of a network interface, 1 to 15 characters", parse: { ValueText.interfaceName($0) },
        text: { $0 })
}

extension SettingType<IPAddress> {
    static let address = SettingType(
        allowed: "an IPv4 or IPv6 address of this machine, without a port", parse: { IPAddress(text: $0) },
        text: { "\($0)" })
}

extension SettingType<StaticAddress> {
    /// An address to connect to. A link-local address needs its interface.
    static let peer = SettingType(
        allowed: "host:port, address:port or [IPv6 address]:port, with a port from 1 to 65535, and a link-local "
            + "address with its interface: [fe80::1%eth0]:24863",
        parse: { StaticAddress($0).flatMap { $0.needsZone ? nil : $0 } }, text: { $0.text })
}

extension SettingType<PortChoice> {
    static let port = SettingType(
        allowed: "'default', 0 for any free port, or a number from 1 to 65535",
        parse: { text in
            if text == "default" { return .standard }
            guard let number = ValueText.integer(text.utf8, in: 0...65535), let port = UInt16(exactly: number) else {
                return nil
            }
            return port == 0 ? .any : .fixed(port)
        },
        text: { port in
            switch port {
            case .standard: "default"
            case .any: "0"
            case .fixed(let number): "\(number)"
            }
        })
}

extension SettingType<LogLevel> {
    static let level = SettingType(
        allowed: "one of: " + LogLevel.allCases.map(\.name).joined(separator: ", "), parse: { LogLevel(name: $0) },
        text: { $0.name })
}
