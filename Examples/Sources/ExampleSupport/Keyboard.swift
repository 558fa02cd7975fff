/// Turns the bytes of a terminal without line mode into commands. Some keys are commands. All other
/// input is edited as a line, which the return key ends. A plain value without input or output.
package struct Keyboard {
    /// The result of a key or a line.
    package enum Event: Equatable {
        /// A command, from a key or a line.
        case command(Command)
        /// The edited line has changed.
        case typed
        /// Ctrl-C, or Ctrl-D on an empty line.
        case quit
    }

    /// The maximum length of a line, in bytes. Further bytes are ignored.
    private static let maxLine = 1_000

    private let keys: [String: String]
    private var pending: [UInt8] = []
    private var lineBytes: [UInt8] = []

    /// Creates a keyboard.
    /// - Parameter keys: the commands by key: `up`, `down`, `left`, `right`, `tab`, or a character
    ///   with which no command starts.
    package init(keys: [String: String]) {
        self.keys = keys
    }

    /// The edited line so far.
    package var line: String { String(decoding: lineBytes, as: UTF8.self) }

    /// Processes received bytes, in pieces of any size.
    package mutating func received(_ bytes: [UInt8]) -> [Event] {
        pending += bytes
        var events: [Event] = []
        while let event = next() { events.append(event) }
        return events
    }

    private mutating func next() -> Event? {
        guard let byte = pending.first else { return nil }
        if byte == 0x1B { return escape() }
        pending.removeFirst()
        switch byte {
        case 0x03: return .quit
        case 0x04 where lineBytes.isEmpty: return .quit
        case 0x09: return bound("tab") ?? .typed
        case 0x0A, 0x0D:
            let command = Command(line)
            lineBytes = []
            return command.map(Event.command) ?? .typed
        case 0x08, 0x7F:
            // Removes a whole character of any number of bytes.
            while let last = lineBytes.popLast(), last & 0xC0 == 0x80 {}
            return .typed
        case 0x15:
            lineBytes = []
            return .typed
        case ..<0x20: return .typed
        default:
            if lineBytes.isEmpty, let command = bound(String(decoding: [byte], as: UTF8.self)) { return command }
            if lineBytes.count < Self.maxLine { lineBytes.append(byte) }
            return .typed
        }
    }

    /// Handles a sequence that starts with escape: an arrow, or a key without a meaning here.
    private mutating func escape() -> Event? {
        guard pending.count > 1 else { return nil }
        guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else {
            pending.removeFirst()
            lineBytes = []
            return .typed
        }
        // Up to the final byte of the sequence.
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            if pending.count > 16 { pending = [] }
            return nil
        }
        let final = pending[end]
        pending.removeFirst(end + 1)
        switch final {
        case UInt8(ascii: "A"): return bound("up") ?? .typed
        case UInt8(ascii: "B"): return bound("down") ?? .typed
        case UInt8(ascii: "C"): return bound("right") ?? .typed
        case UInt8(ascii: "D"): return bound("left") ?? .typed
        default: return .typed
        }
    }

    private func bound(_ key: String) -> Event? {
        keys[key].flatMap(Command.init).map(Event.command)
    }
}
