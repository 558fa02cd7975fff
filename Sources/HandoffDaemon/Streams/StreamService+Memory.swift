import HandoffControl
import HandoffStreams
import LoopIO

// Memory that apps share for streams with many bytes.
extension StreamService {
    /// The maximum number of streams with shared memory, of at most 2 MiB each.
    static let maxShared = 64
    /// The maximum for one app, so that others have room.
    static let maxSharedPerApp = 32

    /// `ShareMemory`.
    func shareMemory(_ call: ControlCall) throws {
        // First, so that later calls find only their own descriptors whatever happens to this one.
        let passed = call.takePassed()
        let request = try ShareMemoryRequest(json: call.parameters)
        guard let stream = streams[request.stream], case .flowing = stream.phase else {
            throw CallError.noSuchStream(request.stream)
        }
        // A second call must not map memory, and must not release the slot of the first one when it
        // fails.
        guard stream.sharer == nil else { throw CallError.invalidDescriptor("the stream shares memory already") }
        let sharers = streams.values.compactMap(\.sharer)
        guard sharers.count < Self.maxShared, sharers.count(where: { $0 == call.client.group }) < Self.maxSharedPerApp
        else {
            throw CallError.limit(
                "sharedMemory",
                "\(Self.maxSharedPerApp) streams of this app, or \(Self.maxShared) of all, share memory; this one keeps its socket"
            )
        }
        let (memory, bell) = try check(passed)
        streams[request.stream]?.sharer = call.client.group
        let relay = LoopRelay<PassedMemory.Outcome>(to: loop) { [weak self] outcome in
            switch outcome {
            case .shared(let received): return call.reply(ShareMemoryReply(received: Int(clamping: received)).json)
            case .positionPassed(let position): call.fail(CallError.positionPassed(position))
            case .failed(let cause): call.fail(CallError.invalidDescriptor("the stream cannot share memory: \(cause)"))
            }
            self?.streams[request.stream]?.sharer = nil
        }
        call.onClosed = { [handle = stream.handle] in
            // The client may or may not have switched to the memory, so the position of its bytes
            // is unknown.
            handle.reset(.cancelled)
        }
        stream.handle.share(PassedMemory(position: UInt64(request.position), memory: memory, roomBell: bell)) {
            relay.send($0)
        }
    }

    /// Checks the descriptors: memory that cannot shrink while mapped, and a socket that never
    /// blocks.
    private func check(_ passed: [PassedFile]) throws(CallError) -> (StreamMemory, HandedDescriptor) {
        guard passed.count == 2, let raw = passed[0].raw else {
            throw .invalidDescriptor("the call has \(passed.count) descriptors instead of memory and a socket")
        }
        let memory: StreamMemory
        do throws(Errno) {
            memory = try StreamMemory(passed: raw)
        } catch {
            throw .invalidDescriptor("the first descriptor is not valid shared memory: \(error)")
        }
        guard passed[1].isUnixStream, let bell = passed[1].take() else {
            throw .invalidDescriptor("the second descriptor is not a unix stream socket")
        }
        return (memory, HandedDescriptor(bell, passer: passed[1].source))
    }
}
