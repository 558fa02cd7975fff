import HandoffClient
import HandoffControl
import HandoffTransfer
import LoopIO

/// Relays a stream to standard output, and standard input to the stream, until both directions have
/// ended. Used only on the loop's thread. A slow side slows down the other one.
final class StreamRelay {
    /// The maximum number of bytes of standard input per read.
    private static let pieceSize = 65_536

    private let stream: ContinuationStream
    private let context: CommandContext
    private let input: Worker
    private let output: OutputPump
    private let onEnd: (TransferFailure?) -> Void
    /// True once everything that arrived was written to standard output, and no more will.
    private var hasWrittenAll = false
    /// The outcome, once the daemon has reported it.
    private var outcome: Result<Void, TransferFailure>?
    private var isOver = false

    /// - Parameter onEnd: called once, with a failure if the stream did not end in both directions.
    init(
        _ stream: ContinuationStream, _ context: CommandContext, onEnd: @escaping (TransferFailure?) -> Void
    ) throws(TransferFailure) {
        self.stream = stream
        self.context = context
        self.onEnd = onEnd
        do throws(Errno) {
            input = try Worker(name: "input")
        } catch {
            throw .system("cannot read standard input", error)
        }
        output = try OutputPump(context.console.writeBytes, on: context.loop)
        output.onRoom = { [weak self] failure in
            guard let failure else { return stream.resumeReading() }
            self?.finish(failure)
        }
        stream.onRead = { [weak self] bytes in
            if self?.output.give(bytes) == false { stream.pauseReading() }
        }
        stream.onEnd = { [weak self] in self?.receivedAll() }
        stream.onError = { [weak self] _ in self?.receivedAll() }
        stream.onDrained = { [weak self] in self?.readInput() }
        stream.awaitEnd { [weak self] result in self?.ended(result) }
        readInput()
    }

    private func readInput() {
        let read = context.keyboard.readSome
        input.run({ try read(Self.pieceSize) }, on: context.loop) { [weak self] result in
            guard let self, !isOver else { return }
            switch result {
            case .failure(let error):
                finish(TransferFailure(.unreadable, "cannot read standard input: \(error)"))
            case .success(let bytes) where bytes.isEmpty: stream.endWriting()
            case .success(let bytes): if stream.write(bytes) { readInput() }
            }
        }
    }

    private func ended(_ result: Result<AwaitStreamReply, ClientError>) {
        outcome =
            switch result {
            case .success(let reply) where reply.outcome == .ended: .success(())
            case .success(let reply): .failure(TransferFailure(end: reply.outcome, reply.message))
            case .failure(let error): .failure(TransferFailure(daemon: error, "cannot follow the stream"))
            }
        finishIfComplete()
    }

    /// Ends standard output after the bytes that have arrived, because its reader may wait for that
    /// before it ends the other direction.
    private func receivedAll() {
        output.empty { [weak self] result in
            guard let self else { return }
            if case .failure(let failure) = result { return finish(failure) }
            if context.ownsProcess { try? StandardStream.output.end() }
            hasWrittenAll = true
            finishIfComplete()
        }
    }

    private func finishIfComplete() {
        guard hasWrittenAll, let outcome else { return }
        guard case .failure(let failure) = outcome else { return finish(nil) }
        finish(failure)
    }

    private func finish(_ failure: TransferFailure?) {
        guard !isOver else { return }
        isOver = true
        stream.close()
        onEnd(failure)
    }
}
