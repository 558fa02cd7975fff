import Glibc
package import HandoffControl
import HandoffJSON
import HandoffModel
package import HandoffTransfer
package import LoopIO

/// The sending app of a stream and the daemon between. Writes to the file that the command passes.
package final class SimulatedSender {
    /// The content to send.
    package let content: [UInt8]
    /// True if the peer has all of it.
    package private(set) var succeeded = false
    /// Why the peer does not have it.
    package private(set) var failure: TransferFailure?
    /// The offset at which the last attempt started.
    package private(set) var offset: Int64?
    /// The error with which a passed file is refused.
    package var refusal: AppErrorName?
    /// Called instead of sending the file's bytes, with the stream, the call, and those bytes.
    package var onBytes: ((ByteStream, FakeDaemon.Call?, [UInt8]) -> Void)?
    /// Called when either side has failed.
    package var onFailure: () -> Void = {}

    private var machine: SenderMachine
    private var stream: ByteStream?
    private var call: FakeDaemon.Call?

    /// Creates a sender of any content.
    package init(_ header: TransferHeader, _ content: [UInt8]) {
        self.content = content
        machine = SenderMachine(header: header)
    }

    /// Creates a sender of a file with this name.
    package convenience init(_ name: String, _ content: [UInt8]) throws {
        let id = TransferID(checked: Array(SHA256Hasher.digest(of: content).bytes.prefix(16)))
        let header = TransferHeader(kind: .file, name: name, size: Int64(content.count), id: id, mode: 0o644)
        guard let header else { throw Errno.invalidArgument }
        self.init(header, content)
    }

    /// Handles `OpenStream`: from now on the connection is the stream.
    package func open(_ call: FakeDaemon.Call) {
        call.upgrade(
            ["stream": .string(Sample.stream.hex)],
            received: { [self] bytes, _ in advance { $0.received(bytes) } },
            ended: { [self] stream in
                advance { $0.endReceived() }
                stream.finish()
            })
        stream = call.stream
        advance { $0.start() }
    }

    /// Handles `PassFile`: confirms it, and replies when the bytes are written.
    package func pass(_ call: FakeDaemon.Call) {
        if let refusal { return call.fail(refusal.rawValue, ["message": "not this one"]) }
        self.call = call
        call.reply(PassFileReply(moved: 0, done: false).json, continues: true)
    }

    private func advance(_ input: (inout SenderMachine) -> Void) {
        input(&machine)
        while let action = machine.next() {
            switch action {
            case .send(let bytes): stream?.write(bytes)
            case .hashPrefix(let length):
                advance { $0.prefixHashed(BlockHasher.digest(of: content.prefix(Int(length)))) }
            case .hashEntries: advance { $0.prefixHashed(BlockHasher.digest(of: [])) }
            case .findData(let offset): advance { $0.dataFound(offset..<Int64(content.count)) }
            case .sendBytes(_, let offset, let length): send(Array(content[Int(offset)...].prefix(Int(length))), offset)
            case .confirm: advance { $0.confirmed() }
            case .readContent:
                advance {
                    $0.content(content)
                    $0.contentEnded()
                }
            case .end: stream?.shutdownWrite()
            case .succeed: succeeded = true
            case .fail(let failure):
                self.failure = failure
                onFailure()
            }
        }
    }

    private func send(_ bytes: [UInt8], _ offset: Int64) {
        self.offset = offset
        guard let stream else { return }
        if let onBytes { return onBytes(stream, call, bytes) }
        if let call {
            write(bytes)
            call.reply(PassFileReply(moved: bytes.count, done: true).json)
        } else {
            stream.write(bytes)
        }
        advance { $0.bytesSent() }
    }

    /// Writes bytes to the passed file.
    package func write(_ bytes: [UInt8]) {
        guard let number = call?.files.first?.raw else { return }
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Continues after the file's bytes.
    package func bytesSent() { advance { $0.bytesSent() } }
}
