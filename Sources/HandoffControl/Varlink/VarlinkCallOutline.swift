import HandoffJSON

/// The members of a call that can be read although its content is invalid, such as an unpaired
/// surrogate in a string, a number out of range or too many members. They suffice to answer only
/// this call with an error.
struct VarlinkCallOutline {
    private let message: ArraySlice<UInt8>
    private var call = VarlinkCall(method: "")
    /// The top-level key whose value follows.
    private var key: ArraySlice<UInt8>?

    /// The call, without its parameters. Nil if the message is not one complete object with a
    /// method.
    static func call(in message: [UInt8]) -> VarlinkCall? {
        var outline = VarlinkCallOutline(message: message[...])
        guard outline.read(), !outline.call.method.isEmpty else { return nil }
        guard [outline.call.oneway, outline.call.more, outline.call.upgrade].count(where: { $0 }) <= 1 else {
            return nil
        }
        return outline.call
    }

    private init(message: ArraySlice<UInt8>) {
        self.message = message
    }

    private mutating func read() -> Bool {
        var depth = 0
        var isClosed = false
        var position = message.startIndex
        while position < message.endIndex {
            let byte = message[position]
            let isBlank = [0x20, 0x09, 0x0A, 0x0D].contains(byte)
            // Nothing may surround the object.
            guard isBlank || !isClosed, isBlank || depth > 0 || byte == UInt8(ascii: "{") else { return false }
            switch byte {
            case UInt8(ascii: "\""):
                guard let end = closingQuote(from: position + 1) else { return false }
                if depth == 1 { string(message[(position + 1)..<end]) }
                position = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                isClosed = depth == 0
            case UInt8(ascii: ","):
                if depth == 1 { key = nil }
            case UInt8(ascii: "t"):
                if depth == 1 { flag() }
            default: break
            }
            position += 1
        }
        return isClosed
    }

    private mutating func string(_ text: ArraySlice<UInt8>) {
        guard let key else { return key = text }
        guard key.elementsEqual("method".utf8), !text.contains(UInt8(ascii: "\\")) else { return }
        call.method = String(validating: text, as: UTF8.self) ?? ""
    }

    /// A literal that starts with t can only be true.
    private mutating func flag() {
        guard let key else { return }
        if key.elementsEqual("oneway".utf8) { call.oneway = true }
        if key.elementsEqual("more".utf8) { call.more = true }
        if key.elementsEqual("upgrade".utf8) { call.upgrade = true }
    }

    private func closingQuote(from start: Int) -> Int? {
        var position = start
        while position < message.endIndex {
            switch message[position] {
            case UInt8(ascii: "\""): return position
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return nil
    }
}
