import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer
import LoopIO

/// Accepts a stream that another device requested from a local app, and sends a file over it. Used
/// only on the loop's thread.
final class DocumentSending {
    private let path: String
    private let stream: StreamID
    private let context: CommandContext
    private let status: TransferStatus
    private var transfer: SenderTransfer?
    private var progress: Int?

    init(_ path: String, over stream: StreamID, _ context: CommandContext) {
        self.path = path
        self.stream = stream
        self.context = context
        status = TransferStatus(context, verb: "sending")
    }

    func start() {
        context.onInterrupt { [unowned self] in
            transfer?.cancel()
            context.finish(.interrupted)
        }
        context.connect { client in
            client.openStream(.stream(stream)) { [weak self] result in
                guard let self, context.status == nil else { return }
                switch result {
                case .success(let stream): send(over: stream)
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    private func send(over stream: ContinuationStream) {
        do throws(TransferFailure) {
            // Only the file name is shown to the other device: the path is private.
            let source = try SourceFile(path, shownAs: SourceFile.name(of: path))
            TransferMemory.keep()
            let transfer = SenderTransfer(source, over: stream, on: context.loop, readInput: { _ in [] }) {
                [weak self] event in self?.happened(event)
            }
            self.transfer = transfer
            transfer.start()
        } catch {
            // Sent instead of the first message, so that the other device can report the reason.
            stream.write(TransferFrame.error(error).encoded())
            stream.finish()
            context.fail(.transfer(error))
        }
    }

    private func happened(_ event: SenderTransfer.Event) {
        switch event {
        case .begun(let offset):
            progress = status.begin(TransferStatus.Progress(position: offset, size: transfer?.source.header.size))
        case .moved(let position): if let progress { status.moved(progress, to: position) }
        case .note(let text):
            status.clear()
            context.note(text)
        case .ended(let failure):
            if let progress { status.end(progress) }
            if let failure { return context.fail(.transfer(failure)) }
            let bytes = transfer?.contentBytes ?? 0
            context.show(
                ["path": .string(path), "bytes": .integer(bytes)],
                or: "sent  \(path.systemTextRepaired), \(ByteText.text(bytes))")
            let omissions = transfer?.omissions ?? .none
            if omissions.isEmpty { context.finish(.done) } else { context.fail(.incomplete(omissions)) }
        }
    }
}
