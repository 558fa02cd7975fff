/// Removes the sequences by which another device could do more than draw in this terminal.
///
/// It passes colours, the cursor, modes, margins, the queries of tmux whose replies have a fixed
/// form, and character sets. It drops strings, such as the clipboard (OSC 52), titles and DECRQSS,
/// reports of the title, printing and checksums of the screen, C1 characters, and the query of the
/// answerback message. Bytes that are not UTF-8 are replaced, because a terminal could take them
/// for C1 characters.
struct TerminalFilter {
    private enum State {
        case text
        /// After an escape character.
        case escape
        /// In a control sequence, after its introducer. Those with a C1 character are not allowed.
        case control(isAllowed: Bool)
        /// In a string, which is dropped up to its end.
        case string
    }

    /// The maximum length of a sequence. Longer ones are dropped.
    private static let maxSequence = 256
    /// The modes that `handoff-terminal` resets. Others lock the keyboard, or change the keys of
    /// Enter and Backspace.
    private static let modes: Set<String> = [
        "1", "5", "6", "7", "9", "12", "25", "66", "69", "1000", "1001", "1002", "1003", "1004", "1005", "1006",
        "1015", "1016", "1049", "2004", "2026", "2031",
    ]
    private static let escape: UInt8 = 0x1B

    private var state = State.text
    private var parameters: [UInt8] = []
    private var intermediates: [UInt8] = []
    /// The first bytes of a character, the number of the others, and the limits of the next one.
    private var partial: [UInt8] = []
    private var missing = 0
    private var continuation: ClosedRange<UInt8> = 0x80...0xBF
    private var shown: [UInt8] = []

    /// Returns the output to show. Sequences and characters may continue in the next call.
    mutating func pass(_ output: [UInt8]) -> [UInt8] {
        shown.removeAll(keepingCapacity: true)
        shown.reserveCapacity(output.count)
        for byte in output { decode(byte) }
        return shown
    }

    // MARK: UTF-8

    private mutating func decode(_ byte: UInt8) {
        if missing > 0 {
            if continuation.contains(byte) {
                partial.append(byte)
                continuation = 0x80...0xBF
                missing -= 1
                if missing == 0 { character() }
                return
            }
            missing = 0
            character("\u{FFFD}")
        }
        switch byte {
        case ..<0x80: ascii(byte)
        case 0xC2...0xDF: expect(1, after: byte)
        case 0xE0: expect(2, after: byte, 0xA0...0xBF)
        case 0xED: expect(2, after: byte, 0x80...0x9F)
        case 0xE1...0xEF: expect(2, after: byte)
        case 0xF0: expect(3, after: byte, 0x90...0xBF)
        case 0xF1...0xF3: expect(3, after: byte)
        case 0xF4: expect(3, after: byte, 0x80...0x8F)
        default: character("\u{FFFD}")
        }
    }

    private mutating func expect(_ count: Int, after byte: UInt8, _ next: ClosedRange<UInt8> = 0x80...0xBF) {
        partial = [byte]
        missing = count
        continuation = next
    }

    private mutating func character() {
        if partial.count == 2, partial[0] == 0xC2, partial[1] < 0xA0 { return c1(partial[1]) }
        show(partial)
    }

    private mutating func character(_ replacement: StaticString) {
        show(Array("\(replacement)".utf8))
    }

    // MARK: Sequences

    private mutating func show(_ character: [UInt8]) {
        if case .string = state { return }
        state = .text
        shown += character
    }

    private mutating func ascii(_ byte: UInt8) {
        switch (state, byte) {
        case (_, Self.escape):
            // Also ends a string. The backslash that may follow is dropped.
            state = .escape
            parameters.removeAll(keepingCapacity: true)
            intermediates.removeAll(keepingCapacity: true)
        case (.string, 0x07), (.string, 0x18), (.string, 0x1A): state = .text
        case (.string, _): break
        case (.escape, 0x20...0x2F), (.control, 0x20...0x2F): add(byte, to: \.intermediates)
        case (.escape, UInt8(ascii: "[")) where intermediates.isEmpty: state = .control(isAllowed: true)
        case (.escape, 0x30...0x7E):
            state = .text
            if intermediates.isEmpty, "]PX^_".utf8.contains(byte) { state = .string }
            if isAllowedEscape(byte) { shown += [Self.escape] + intermediates + [byte] }
        case (.control, 0x30...0x3F) where intermediates.isEmpty: add(byte, to: \.parameters)
        case (.control(let isAllowed), 0x40...0x7E):
            state = .text
            if isAllowed, isAllowedControl(byte) {
                shown += [Self.escape, UInt8(ascii: "[")] + parameters + intermediates + [byte]
            }
        case (_, 0x05): state = .text
        default:
            state = .text
            shown.append(byte)
        }
    }

    private mutating func c1(_ byte: UInt8) {
        switch (state, byte) {
        case (.string, 0x9C): state = .text
        case (.string, _): break
        case (_, 0x90), (_, 0x98), (_, 0x9D...0x9F): state = .string
        case (_, 0x9B):
            state = .control(isAllowed: false)
            parameters.removeAll(keepingCapacity: true)
            intermediates.removeAll(keepingCapacity: true)
        default: state = .text
        }
    }

    private mutating func add(_ byte: UInt8, to part: WritableKeyPath<Self, [UInt8]>) {
        if parameters.count + intermediates.count < Self.maxSequence { self[keyPath: part].append(byte) }
    }

    private func isAllowedEscape(_ final: UInt8) -> Bool {
        switch intermediates {
        case []: "78=>DEHMc".utf8.contains(final)
        case [UInt8(ascii: "#")]: "345678".utf8.contains(final)
        case let set where set.count == 1 && "()*+".utf8.contains(set[0]):
            switch final {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: false
            }
        default: false
        }
    }

    private func isAllowedControl(_ final: UInt8) -> Bool {
        guard parameters.count + intermediates.count < Self.maxSequence else { return false }
        let isNumber = parameters.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        switch (intermediates, final) {
        case ([], UInt8(ascii: "h")), ([], UInt8(ascii: "l")):
            let text = String(decoding: parameters, as: UTF8.self)
            guard text.hasPrefix("?") else { return text == "4" }
            return text.dropFirst().split(separator: ";", omittingEmptySubsequences: false)
                .allSatisfy { Self.modes.contains(String($0)) }
        case ([], UInt8(ascii: "s")), ([], UInt8(ascii: "u")): return isNumber
        case ([UInt8(ascii: " ")], UInt8(ascii: "q")): return isNumber
        case ([UInt8(ascii: "!")], UInt8(ascii: "p")): return parameters.isEmpty
        case ([], _) where "@ABCDEFGHIJKLMPSTXZ`abcdefgmnqr".utf8.contains(final):
            let prefix = parameters.prefix(1).allSatisfy { "?>=0123456789;:".utf8.contains($0) }
            return prefix && parameters.dropFirst().allSatisfy { UInt8(ascii: "0")...UInt8(ascii: ";") ~= $0 }
        default: return false
        }
    }
}
