import HandoffClient
import HandoffControl
import HandoffModel
import LoopIO

/// Memory created for a stream, and the local end of the socket pair on which the daemon signals
/// space. On the loop's thread.
final class SharedMemory {
    private let memory: StreamMemory
    private var roomBell: Descriptor?
    /// The number of bytes that the daemon wrote to the socket before sharing; known once it shares
    /// the memory.
    private var received = 0

    private init(_ memory: StreamMemory, roomBell: consuming Descriptor) {
        self.memory = memory
        self.roomBell = .some(roomBell)
    }

    /// Creates memory and has the daemon share it (`ShareMemory`).
    /// - Parameters:
    ///   - client: a connection without an earlier call. The caller must retain it until the reply.
    ///   - then: receives nil if it fails or the daemon does not accept it, such as when many
    ///     streams already have memory, or when its version is older. The bytes then use the
    ///     socket.
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

    /// Returns the bytes in the memory; only once.
    /// - Parameters:
    ///   - count: the number of bytes already read from the socket.
    ///   - socket: the stream's socket.
    func bytes(behind count: Int, _ socket: SocketCore) -> SharedBytes? {
        guard let bell = roomBell.take() else { return nil }
        return SharedBytes(
            memory, received: max(0, received - count), socket: socket, roomBell: SocketCore(bell, loop: socket.loop))
    }
}
