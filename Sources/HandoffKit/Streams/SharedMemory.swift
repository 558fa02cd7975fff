import HandoffClient
import HandoffControl
import HandoffModel
import LoopIO

/// Memory that was made for a stream, and our end of the socket pair by which the daemon rings for room. On the loop's thread.
final class SharedMemory {
    private let memory: StreamMemory
    private var roomBell: Descriptor?
    /// Bytes that the daemon has written to the socket before; known once it shares the memory.
    private var received = 0

    private init(_ memory: StreamMemory, roomBell: consuming Descriptor) {
        self.memory = memory
        self.roomBell = .some(roomBell)
    }

    /// Makes memory and has the daemon share it (`ShareMemory`).
    /// - Parameters:
    ///   - client: a connection on which no call was made. It has to live until the answer.
    ///   - then: gets nil where the daemon takes none, as when many streams have some, or when it is an older one: the bytes go
    ///     by the socket then.
    static func make(for stream: StreamID, by client: ControlClient, _ then: @escaping (SharedMemory?) -> Void) {
        do throws(Errno) {
            let made = try StreamMemory.make()
            let pair = try Descriptor.socketPair()
            let (memory, theirs) = (made.memory, pair.second.raw)
            let descriptor = made.descriptor.raw
            let shared = SharedMemory(memory, roomBell: pair.first)
            let request = ShareMemoryRequest(stream: stream, position: 0)
            client.shareMemory(request, memory: descriptor, roomBell: theirs) { result in
                guard case .success(let reply) = result else { return then(nil) }
                shared.received = reply.received
                then(shared)
            }
        } catch {
            then(nil)
        }
    }

    /// The bytes in it; once.
    /// - Parameters:
    ///   - count: bytes that the socket gave already.
    ///   - socket: the stream's socket.
    func bytes(behind count: Int, _ socket: SocketCore) -> SharedBytes? {
        guard let bell = roomBell.take() else { return nil }
        return SharedBytes(
            memory, received: max(0, received - count), socket: socket, roomBell: SocketCore(bell, loop: socket.loop))
    }
}
