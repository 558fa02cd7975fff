/// Turns the bytes of a terminal without line mode into commands. Some keys are commands by themselves; everything else
/// is typed into a line, which the return key ends. A plain value without input or output.
package struct Keyboard {
    /// What a key or a line asks for.
    package enum Event: Equatable {
        /// A command, by a key or by a line.
        case command(Command)
        /// The line that is being typed has changed.
        case typed
        /// Ctrl-C, or Ctrl-D on an empty line.
        case quit
    }

    /// The longest line that is kept, in bytes; more of it is ignored.
    private static let maxLine = 1_000

    private let keys: [String: String]
    private var pending: [UInt8] = []
    private var lineBytes: [UInt8] = []

    /// A keyboard.
    /// - Parameter keys: which command a key is: `up`, `down`, `left`, `right`, `tab`, or a character that no command
    ///   begins with.
    package init(keys: [String: String]) {
        self.keys = keys
    }

    /// What has been typed of the line.
    package var line: String { String(decoding: lineBytes, as: UTF8.self) }

    /// Takes bytes in whatever pieces they come.
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
            // A whole character, of however many bytes.
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

    /// A sequence that begins with escape: an arrow, or a key that means nothing here.
    private mutating func escape() -> Event? {
        guard pending.count > 1 else { return nil }
        guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else {
            pending.removeFirst()
            lineBytes = []
            return .typed
        }
        // Up to its final byte.
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
