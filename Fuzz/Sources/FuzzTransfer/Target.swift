import FuzzSupport
import HandoffTransfer

/// Data of the other side of a transfer: messages, chunks and archives, in pieces of any size.
///
/// The first byte selects the reader, the second the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    let reader = input.byte() % 6
    let size = input.byte()
    switch reader {
    case 0: frame(input.rest)
    case 1: archive(input.pieces(of: size), whole: input.rest)
    case 2: receive(input.pieces(of: size), route: .passed)
    case 3: receive(input.pieces(of: size), route: .inline)
    case 4: send(input.pieces(of: size), header: TransferHeader(kind: .file, name: "a", size: 100))
    default: send(input.pieces(of: size), header: TransferHeader(kind: .stream))
    }
    return 0
}

private func frame(_ bytes: [UInt8]) {
    guard let frame = try? TransferFrame(decoding: bytes[...]) else { return }
    let again = try? TransferFrame(decoding: frame.encoded().dropFirst(4))
    // The text of an error is made safe to display and may be truncated. Everything else reads the same.
    if case .error = frame { return }
    require(again == frame, "a message reads differently")
}

private func archive(_ pieces: [[UInt8]], whole: [UInt8]) {
    require(events(of: pieces) == events(of: [whole]), "the size of the pieces changes the result")
}

/// The parser's output with joined data, and an empty text after it if it failed.
private func events(of pieces: [[UInt8]]) -> [String] {
    var parser = TarParser(limits: TarLimits(bytes: 1 << 20, entries: 100))
    var seen: [String] = []
    var size = 0
    do throws(TransferFailure) {
        for piece in pieces {
            try parser.parse(piece) { (event) throws(TransferFailure) in
                switch event {
                case .entry(let entry):
                    require(entry.components.allSatisfy { FileName.problem($0) == nil }, "a name")
                    require(entry.size >= 0 && entry.mode <= 0o777, "a number")
                    seen.append("\(entry)")
                case .data(let bytes): size += bytes.count
                case .end: break
                case .endOfFile:
                    seen.append("\(size)")
                    size = 0
                }
            }
        }
        try parser.finish()
    } catch {
        // The bytes of a file before the failure depend on the size of the pieces.
        seen.append("failed: \(error.reason)")
    }
    return seen
}

private func receive(_ pieces: [[UInt8]], route: ReceiverMachine.Route) {
    var machine = ReceiverMachine(route: route)
    var ends = 0
    /// The end of the content received so far.
    var reached: Int64 = 0
    func advance(_ input: (inout ReceiverMachine) -> Void) {
        input(&machine)
        while let action = machine.next() {
            require(ends == 0, "something follows the end")
            switch action {
            case .open(let header):
                let digest = SHA256Hasher.digest(of: [])
                let isContinued = header.size ?? 0 > 10
                advance { $0.opened(isContinued ? TransferHave(offset: 10, digest: digest) ?? .nothing : .nothing) }
            case .prepare(let offset, let length):
                require(offset >= reached, "a part arrives twice")
                let end = offset.addingReportingOverflow(length ?? 0)
                require(!end.overflow, "a part ends nowhere")
                reached = end.partialValue
            case .receiveBytes(let position, let length):
                require(position >= 0 && length > 0, "nothing to receive")
                advance { $0.ready() }
                advance { $0.bytesReceived() }
            case .finish: advance { $0.finished() }
            case .succeed, .fail: ends += 1
            case .send, .write, .end: break
            }
        }
    }
    for piece in pieces { advance { $0.received(piece) } }
    advance { $0.endReceived() }
    require(machine.isEnded && ends == 1, "a transfer without an end")
}

private func send(_ pieces: [[UInt8]], header: TransferHeader?) {
    guard let header else { return }
    var machine = SenderMachine(header: header)
    var ends = 0
    func advance(_ input: (inout SenderMachine) -> Void) {
        input(&machine)
        while let action = machine.next() {
            require(ends == 0, "something follows the end")
            switch action {
            case .hashPrefix, .hashEntries: advance { $0.prefixHashed(SHA256Hasher.digest(of: [])) }
            case .findData(let offset):
                // After a hole of three bytes, also if there are not as many.
                let data = min(offset, .max - 5) + 3
                advance { $0.dataFound(data..<data + 2) }
            case .sendBytes(let position, let offset, let length):
                require(position > 0 && offset >= 0 && length > 0, "nothing to send")
                advance { $0.bytesSent() }
            case .confirm: advance { $0.confirmed() }
            case .readContent:
                advance { $0.content([1, 2, 3]) }
                advance { $0.contentEnded() }
            case .succeed, .fail: ends += 1
            case .send, .end: break
            }
        }
    }
    advance { $0.start() }
    for piece in pieces { advance { $0.received(piece) } }
    advance { $0.endReceived() }
    require(machine.isEnded && ends == 1, "a transfer without an end")
}
