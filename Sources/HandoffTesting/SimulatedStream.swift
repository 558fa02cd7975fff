import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// A stream between the two apps of a continuation, both of which are connected to this process. On
/// the loop's thread.
final class SimulatedStream {
    /// The maximum time until an app accepts a stream, as in the daemon.
    private static let acceptTimeout = Duration.seconds(30)

    let id = StreamID.random
    let continuation: SimulatedContinuation
    private unowned let network: SimulatedNetwork
    /// The requesting app's side, until the other app accepts the stream.
    private var requester: ByteStream?
    private var timer: LoopTimer?
    private var sides: [ByteStream] = []
    private var ended = 0

    /// Creates a stream for an app that requests one. The app can use it immediately: written bytes
    /// are buffered for the other app.
    init(_ call: SimulatedCall, of continuation: SimulatedContinuation, network: SimulatedNetwork) {
        self.continuation = continuation
        self.network = network
        let side = call.upgrade(["stream": .string(id.hex)])
        side.onRead = nil
        side.onEnd = nil
        side.onError = { [weak self] _ in self?.end() }
        requester = side
        timer = network.loop.timer(after: Self.acceptTimeout) { [weak self] in self?.end() }
    }

    /// Connects the other app, which accepts the stream.
    func take(_ call: SimulatedCall) {
        guard let requester else { return call.fail(AppErrorName.noSuchStream.rawValue, ["stream": .string(id.hex)]) }
        self.requester = nil
        timer = nil
        sides = [requester, call.upgrade(["stream": .string(id.hex)])]
        join(sides[0], to: sides[1])
        join(sides[1], to: sides[0])
    }

    /// Ends the stream immediately, because it broke or was not accepted.
    func end() {
        timer = nil
        requester?.close()
        requester = nil
        for side in sides { side.close() }
        sides = []
        network.ended(self)
    }

    private func join(_ side: ByteStream, to other: ByteStream) {
        side.onEnd = { [weak self, unowned other] in
            other.shutdownWrite()
            self?.endedOne()
        }
        side.onError = { [weak self] _ in self?.end() }
        side.onDrained = { [unowned other] in other.resumeReading() }
        side.onRead = { [unowned side, unowned other] bytes in
            if !other.write(bytes) { side.pauseReading() }
        }
    }

    private func endedOne() {
        ended += 1
        guard ended == 2 else { return }
        for side in sides { side.finish() }
        sides = []
        network.ended(self)
    }
}
