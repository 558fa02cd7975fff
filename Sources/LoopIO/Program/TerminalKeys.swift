import Glibc

/// A key pressed at a terminal, of those that a list on the terminal supports.
package enum TerminalKey: Equatable, Sendable {
    case up
    case down
    case home
    case end
    case enter
    /// Escape, `q`, or the end of input.
    case leave
    /// 0 to 9.
    case digit(Int)

    /// Parses the input of a terminal: ECMA-48 control sequences as sent by xterm-like terminals,
    /// and the letters that pagers use. Other input is ignored.
    package static func parse(_ bytes: [UInt8]) -> [TerminalKey] {
        var keys: [TerminalKey] = []
        var rest = bytes[...]
        while let first = rest.popFirst() {
            switch first {
            case 0x0A, 0x0D: keys.append(.enter)
            case 0x04, UInt8(ascii: "q"): keys.append(.leave)
            case UInt8(ascii: "k"): keys.append(.up)
            case UInt8(ascii: "j"): keys.append(.down)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): keys.append(.digit(Int(first - UInt8(ascii: "0"))))
            case 0x1B:
                // Escape is sent alone; a control sequence is sent as a whole.
                guard let introducer = rest.first, introducer == 0x5B || introducer == 0x4F else {
                    if rest.isEmpty { keys.append(.leave) }
                    continue
                }
                rest = rest.dropFirst()
                let parameters = rest.prefix { (0x20...0x3F).contains($0) }
                rest = rest.dropFirst(parameters.count)
                if let key = sequence(final: rest.popFirst(), parameters) { keys.append(key) }
            default: break
            }
        }
        return keys
    }

    private static func sequence(final: UInt8?, _ parameters: ArraySlice<UInt8>) -> TerminalKey? {
        switch (final, parameters.first) {
        case (UInt8(ascii: "A"), _): .up
        case (UInt8(ascii: "B"), _): .down
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), UInt8(ascii: "1")), (UInt8(ascii: "~"), UInt8(ascii: "7")):
            .home
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), UInt8(ascii: "4")), (UInt8(ascii: "~"), UInt8(ascii: "8")):
            .end
        default: nil
        }
    }
}

/// Reads single key presses at a terminal, without echo, while the loop continues to run.
///
/// Use it on the loop's thread only. Ctrl-C still sends its signal.
package final class TerminalKeys {
    private let terminal: TerminalSettings
    private let report: (Result<TerminalKey, Errno>) -> Void
    private var source: EventSource?

    /// Starts reading. Input that was typed ahead is discarded.
    /// - Parameter report: receives each key until `cancel`. Not called again after an error.
    /// - Throws: an error of open(2), tcgetattr(3) or epoll_ctl(2): ENXIO or ENOTTY if there is no
    ///   terminal.
    package init(
        _ place: TerminalLine.Place, on loop: EventLoop, _ report: @escaping (Result<TerminalKey, Errno>) -> Void
    ) throws(Errno) {
        terminal = try TerminalSettings(place)
        self.report = report
        try terminal.change(off: ICANON | ECHO)
        source = try loop.watch(terminal.descriptor.raw, .readable) { [weak self] _ in self?.read() }
    }

    deinit {
        cancel()
    }

    /// Stops reading, and restores line mode and echo.
    func cancel() {
        // Before the descriptor closes with its property.
        source?.cancel()
        source = nil
        terminal.restore()
    }

    private func read() {
        do throws(Errno) {
            guard let bytes = try terminal.read(limit: 256) else { return }
            for key in bytes.isEmpty ? [.leave] : TerminalKey.parse(bytes) where source != nil {
                report(.success(key))
            }
        } catch {
            cancel()
            report(.failure(error))
        }
    }
}
