import Dispatch
import Foundation
import LoopIO

/// The thread of the simulated devices, and the folder of their sockets.
final class LoopbackCore: Sendable {
    let folder: String
    private let thread: LoopThread
    private let network: LoopBound<SimulatedNetwork>

    init() throws {
        // Short, because the path of a socket is limited to 107 bytes.
        folder = "/tmp/handoff-testing-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        thread = try LoopThread(name: "handoff-testing")
        network = LoopBound(sending: SimulatedNetwork(loop: thread.loop), to: thread.loop)
    }

    deinit {
        // The simulation ends on its thread, before the thread does.
        let (network, loop) = (network, thread.loop)
        if loop.isOwned {
            network.value.end()
            loop.stop()
        } else {
            Self.wait(on: loop) { network.value.end() }
            thread.stop()
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Runs `body` on the thread, and waits for its result.
    func perform<Value: Sendable>(_ body: @escaping @Sendable (SimulatedNetwork) throws -> Value) throws -> Value {
        let network = network
        let box = Locked<Result<Value, any Error>?>(nil)
        Self.wait(on: thread.loop) {
            let result = Result { try body(network.value) }
            box.withLock { $0 = result }
        }
        // `wait` returns once the body has run on the loop, which only `deinit` ends.
        guard let result = box.withLock({ $0 }) else { preconditionFailure("the loop has ended") }
        return try result.get()
    }

    /// Runs an operation on the thread that completes later.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (SimulatedNetwork, @escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let network = network
            thread.loop.perform { body(network.value) { continuation.resume(with: $0) } }
        }
    }

    private static func wait(on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.perform {
            body()
            done.signal()
        }
        done.wait()
    }
}
