import Foundation

/// One continuation stream. The side that asked sends a text and tells what comes back; the other side answers with what came, in
/// capital letters, once it has all. It waits on a thread of its own, as without a run loop.
///
/// Unchecked Sendable: the streams are used on its thread alone.
final class StreamPort: @unchecked Sendable {
    private let app: KitApp
    private let input: InputStream
    private let output: OutputStream

    /// Begins.
    init(_ app: KitApp, _ input: InputStream, _ output: OutputStream, sends text: String?) {
        self.app = app
        self.input = input
        self.output = output
        Thread.detachNewThread { [self] in run(text) }
    }

    private func run(_ text: String?) {
        input.open()
        output.open()
        defer { input.close() }
        if let text {
            send(Array(text.utf8))
            output.close()
        }
        var came: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = input.read(&buffer, maxLength: buffer.count)
            guard count > 0 else {
                if count < 0 { app.say("stream", error: input.streamError) }
                break
            }
            came += buffer[..<count]
        }
        let answer = String(decoding: came, as: UTF8.self)
        if text == nil {
            send(Array(answer.uppercased().utf8))
            output.close()
        }
        app.say("stream", ["answer": answer])
    }

    private func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBufferPointer { buffer in
                buffer.baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
