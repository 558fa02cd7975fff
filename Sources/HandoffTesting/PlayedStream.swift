import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// A stream between the two apps of a continuation, both of which are in this process. On the loop's thread.
final class PlayedStream {
    /// How long an app has to take a stream, as at a daemon.
    private static let timeToTake = Duration.seconds(30)

    let id = StreamID.random
    let continuation: PlayedContinuation
    private unowned let network: PlayedNetwork
    /// The side of the app that asked, until the other one takes the stream.
    private var asking: ByteStream?
    private var timer: LoopTimer?
    private var sides: [ByteStream] = []
    private var ended = 0

    /// A stream that an app asks for, which has it at once: what it writes waits for the other app.
    init(_ call: PlayedCall, of continuation: PlayedContinuation, network: PlayedNetwork) {
        self.continuation = continuation
        self.network = network
        let side = call.upgrade(["stream": .string(id.hex)])
        side.onRead = nil
        side.onEnd = nil
        side.onError = { [weak self] _ in self?.end() }
        asking = side
        timer = network.loop.timer(after: Self.timeToTake) { [weak self] in self?.end() }
    }

    /// The other app takes it.
    func take(_ call: PlayedCall) {
        guard let asking else { return call.fail(AppErrorName.noSuchStream.rawValue, ["stream": .string(id.hex)]) }
        self.asking = nil
        timer = nil
        sides = [asking, call.upgrade(["stream": .string(id.hex)])]
        join(sides[0], to: sides[1])
        join(sides[1], to: sides[0])
    }

    /// Ends it at once: it broke, or nobody took it.
    func end() {
        timer = nil
        asking?.close()
        asking = nil
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
