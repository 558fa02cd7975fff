import FuzzSupport
import HandoffAccount
import HandoffModel
import HandoffProtocol

/// Data of a peer on a connection: frames in pieces of any size, and the content of each of them.
///
/// The first byte selects the state of the connection, the second the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    let states: [FrameCaps] = [.live, .introduction, .helloOnly, .beforeHello, .nothing]
    var decoder = FrameDecoder(caps: states[Int(input.byte()) % states.count])
    let size = input.byte()
    for piece in input.pieces(of: size) {
        decoder.append(piece)
        do {
            while let frame = try decoder.next() { read(frame) }
        } catch {
            return 0
        }
        require(decoder.buffered <= count, "more bytes are buffered than received")
    }
    return 0
}

private func read(_ frame: Frame) {
    let body = frame.body
    guard let kind = frame.kind else { return }
    switch kind {
    case .statements:
        guard let statements = try? StatementList.decode(body) else { return }
        let encoded = StatementList.encode(statements)
        require((try? StatementList.decode(encoded)) == statements, "statements read differently")
    case .hello:
        guard let device = DeviceID(bytes: [UInt8](repeating: 7, count: DeviceID.byteCount)),
            let hello = try? Hello(decoding: body, from: device)
        else { return }
        require((try? Hello(decoding: hello.encoded(), from: device)) != nil, "a hello cannot be read again")
    case .request:
        guard let request = try? PeerRequest(decoding: body) else { return }
        require((try? PeerRequest(decoding: request.encoded())) == request, "a request reads differently")
    case .response:
        guard let response = try? PeerResponse(decoding: body) else { return }
        require((try? PeerResponse(decoding: response.encoded())) == response, "a response reads differently")
        if case .result(let object) = response.outcome {
            _ = try? ActivityContent(payload: object)
            _ = try? ActivityList(json: object)
        }
    case .notice:
        guard let notice = try? PeerNotice(decoding: body) else { return }
        require((try? PeerNotice(decoding: notice.encoded())) == notice, "a notice reads differently")
    case .epochKey:
        _ = EpochKeyBody.decode(body)
    }
}
