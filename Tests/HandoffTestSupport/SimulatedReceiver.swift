import Glibc
import HandoffControl
import HandoffJSON
import HandoffModel
package import HandoffTransfer
import LoopIO

/// The receiving app of a stream and the daemon between. Reads the file that the command passes.
package final class SimulatedReceiver {
    /// The header of the content.
    package private(set) var header: TransferHeader?
    /// The content received so far.
    package private(set) var content: [UInt8] = []
    /// True if all of it has been received.
    package private(set) var succeeded = false
    /// Why it is not received.
    package private(set) var failure: TransferFailure?
    /// Called at the end.
    package var onEnd: () -> Void = {}
    /// Called before the reply to `PassFile`.
    package var onPassed: () -> Void = {}

    /// Creates a receiver of any content.
    package init() {}

    private var machine = ReceiverMachine(route: .inline)
    private var stream: ByteStream?

    /// Handles `OpenStream`.
    package func open(_ call: FakeDaemon.Call) {
        call.upgrade(
            ["stream": call.parameters["stream"] ?? .null],
            received: { [self] bytes, _ in advance { $0.received(bytes) } },
            ended: { [self] stream in
                advance { $0.endReceived() }
                stream.finish()
            })
        stream = call.stream
    }

    /// Handles `PassFile` of a sender.
    package func pass(_ call: FakeDaemon.Call) throws {
        let request = try PassFileRequest(json: call.parameters)
        guard let number = call.files.first?.raw, let length = request.length else { return }
        var bytes = [UInt8](repeating: 0, count: length)
        let count = max(0, read(number, &bytes, length))
        onPassed()
        call.reply(PassFileReply(moved: count, done: true).json)
        advance { $0.received(bytes.prefix(count)) }
    }

    private func advance(_ input: (inout ReceiverMachine) -> Void) {
        input(&machine)
        while let action = machine.next() {
            switch action {
            case .send(let bytes): stream?.write(bytes)
            case .open(let header):
                self.header = header
                advance { $0.opened() }
            case .prepare, .receiveBytes: break
            case .write(let bytes): content += bytes
            case .finish: advance { $0.finished() }
            case .end: stream?.shutdownWrite()
            case .succeed:
                succeeded = true
                onEnd()
            case .fail(let failure):
                self.failure = failure
                onEnd()
            }
        }
    }
}
