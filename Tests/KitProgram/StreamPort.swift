import Foundation

/// A continuation stream. The requesting side sends a text and reports the reply. The other side
/// waits for the complete text and replies with it in upper case. Blocks on its own thread, without
/// a run loop.
///
/// Unchecked Sendable: the streams are only used on its thread.
final class StreamPort: @unchecked Sendable {
    private let app: KitApp
    private let input: InputStream
    private let output: OutputStream

    /// Starts the transfer.
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
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = input.read(&buffer, maxLength: buffer.count)
            guard count > 0 else {
                if count < 0 { app.report("stream", error: input.streamError) }
                break
            }
            received += buffer[..<count]
        }
        let answer = String(decoding: received, as: UTF8.self)
        if text == nil {
            send(Array(answer.uppercased().utf8))
            output.close()
        }
        app.report("stream", ["answer": answer])
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
