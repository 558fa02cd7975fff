import FuzzSupport
import HandoffControl
import HandoffJSON
import HandoffStreams

/// The plaintext of a stream in pieces of any size, and the parameters of the calls that open
/// streams and pass files.
///
/// The first byte selects the kind, the second the size of the pieces. For streams the third is the
/// number of bytes that an app accepts at a time.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    let isParameters = input.byte() % 4 == 3
    let size = input.byte()
    guard !isParameters else {
        parameters(input.rest)
        return 0
    }
    let appetite = Int(input.byte())
    let cut = read(input.pieces(of: size), appetite: appetite)
    require(cut == read([input.rest], appetite: 255), "the size of the pieces changes the result")
    return 0
}

/// The result of a stream.
private struct Outcome: Equatable {
    var data: [UInt8] = []
    var isEndTold = false
    var reset: StreamReset?
    var isWhole = true
}

private func read(_ pieces: [[UInt8]], appetite: Int) -> Outcome {
    var incoming = IncomingBytes()
    var outcome = Outcome()
    for var piece in pieces where incoming.reset == nil && outcome.isWhole {
        piece.withUnsafeMutableBytes { bytes in
            let (data, isWhole) = incoming.parse(bytes)
            outcome.isWhole = isWhole
            var end = 0
            for range in data {
                require(range.lowerBound >= end && range.upperBound <= bytes.count && !range.isEmpty, "a range")
                end = range.upperBound
                incoming.wait(UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
        take(&incoming, appetite, &outcome)
    }
    while incoming.isWaiting { take(&incoming, max(1, appetite), &outcome) }
    if incoming.takeEnd() { outcome.isEndTold = true }
    outcome.reset = incoming.reset
    require(incoming.count == UInt64(outcome.data.count), "the count")
    require(!incoming.takeEnd(), "the end is reported twice")
    return outcome
}

/// The app accepts some of the waiting bytes.
private func take(_ incoming: inout IncomingBytes, _ appetite: Int, _ outcome: inout Outcome) {
    let (bytes, start) = incoming.takeWaiting()
    let taken = bytes[start...].prefix(appetite)
    outcome.data += taken
    incoming.putBack(bytes, from: start + taken.count)
    if incoming.takeEnd() { outcome.isEndTold = true }
    incoming.releaseMemory()
}

private func parameters(_ bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes, limits: JSONLimits(bytes: 8192)), let object = json.object else {
        return
    }
    if let request = try? PassFileRequest(json: object) {
        require(request.position >= 0 && request.length ?? 0 >= 0, "a number")
        require(!request.position.addingReportingOverflow(request.length ?? 0).overflow, "a sum")
        require((try? PassFileRequest(json: request.json)) == request, "a request reads differently")
    }
    if let request = try? OpenStreamRequest(json: object) {
        require((try? OpenStreamRequest(json: request.json)) == request, "a request reads differently")
    }
    if let reply = try? AwaitStreamReply(json: object) {
        require((try? AwaitStreamReply(json: reply.json)) == reply, "a reply reads differently")
    }
    if let reply = try? PassFileReply(json: object) {
        require((try? PassFileReply(json: reply.json)) == reply, "a reply reads differently")
    }
    if let error = try? StreamEndedError(json: object) {
        require((try? StreamEndedError(json: error.json)) == error, "an error reads differently")
    }
}
