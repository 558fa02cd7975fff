import HandoffControl
import HandoffControlServer
import HandoffStreams
import LoopIO

// Memory that apps share for streams with many bytes.
extension StreamService {
    /// Streams with shared memory, of at most 2 MiB each.
    static let maxShared = 64
    /// Those of one app, so that none takes the share of the others.
    static let maxSharedPerApp = 32

    /// `ShareMemory`.
    func shareMemory(_ call: ControlCall) throws {
        // First of all, so that whatever comes of this call, the next one finds only its own.
        let passed = call.takePassed()
        let request = try ShareMemoryRequest(json: call.parameters)
        guard let stream = streams[request.stream], case .flowing = stream.phase else {
            throw CallError.noSuchStream(request.stream)
        }
        // A second call must not map memory, and must not release the place of the first one when it fails.
        guard stream.sharer == nil else { throw CallError.invalidDescriptor("the stream shares memory already") }
        let sharers = streams.values.compactMap(\.sharer)
        guard sharers.count < Self.maxShared, sharers.count(where: { $0 == call.client.group }) < Self.maxSharedPerApp
        else {
            throw CallError.limit(
                "sharedMemory",
                "\(Self.maxSharedPerApp) streams of this app, or \(Self.maxShared) of all, share memory; this one keeps its socket")
        }
        let (memory, bell) = try check(passed)
        streams[request.stream]?.sharer = call.client.group
        let relay = LoopRelay<PassedMemory.Outcome>(to: loop) { [weak self] outcome in
            switch outcome {
            case .shared(let received): return call.reply(ShareMemoryReply(received: Int(clamping: received)).json)
            case .positionPassed(let position): call.fail(CallError.positionPassed(position))
            case .failed(let cause): call.fail(CallError.invalidDescriptor("the stream takes no memory: \(cause)"))
            }
            self?.streams[request.stream]?.sharer = nil
        }
        call.onClosed = { [handle = stream.handle] in
            // Whether the app knows where its bytes go now, nobody can tell.
            handle.reset(.cancelled)
        }
        stream.handle.share(PassedMemory(position: UInt64(request.position), memory: memory, roomBell: bell)) {
            relay.send($0)
        }
    }

    /// Looks whether the descriptors are what they are to be: memory that cannot end under us, and a socket that never makes us wait.
    private func check(_ passed: [PassedFile]) throws(CallError) -> (StreamMemory, HandedDescriptor) {
        guard passed.count == 2, let raw = passed[0].raw else {
            throw .invalidDescriptor("\(passed.count) descriptors came with the call, and not memory and a socket")
        }
        let memory: StreamMemory
        do throws(Errno) {
            memory = try StreamMemory(passed: raw)
        } catch {
            throw .invalidDescriptor("the first descriptor is no memory of the form that is shared: \(error)")
        }
        guard passed[1].isUnixStream, let bell = passed[1].take() else {
            throw .invalidDescriptor("the second descriptor is no unix stream socket")
        }
        return (memory, HandedDescriptor(bell, passer: passed[1].source))
    }
}
