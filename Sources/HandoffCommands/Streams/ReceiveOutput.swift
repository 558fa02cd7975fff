import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer

/// The output of `ReceiveSession`: the events of `continue --output`, or the path of a document.
struct ReceiveOutput {
    let context: CommandContext
    /// True if events are written to standard error, because standard output carries the content.
    let isTaken: Bool
    /// The document that is fetched; nil for the content of an activity.
    let document: DocumentSource?
    let status: TransferStatus

    func continued(_ activity: ContinuedActivity) {
        guard document == nil else { return }
        let text = context.json ? JSONLine.text(activity.json) + "\n" : ContinuedText.text(activity)
        isTaken ? context.console.writeDiagnostics(text) : context.console.write(text)
    }

    /// - Parameter activity: nil if it was continued by another program.
    func begun(_ header: TransferHeader, _ stream: StreamID, of activity: ContinuedActivity?, offset: Int64) {
        let name = header.name.map(VisibleText.escape) ?? "a stream"
        let size = header.size.map { ", \(ByteText.text($0))" } ?? ""
        let from = offset > 0 ? ", resuming at \(ByteText.text(offset))" : ""
        let repository =
            header.hasRepository ? "; it contains a repository, whose configuration and hooks will be set aside" : ""
        let device = activity.map { " from \(VisibleText.escape($0.origin.deviceName))" } ?? ""
        var fields: JSONObject = [
            "id": .string(activity?.id.hex), "stream": .string(stream.hex),
            "kind": .string(header.kind.rawValue), "name": .string(header.name),
            "size": header.size.map { .integer($0) } ?? .null, "from": .integer(offset),
            "device": .string(activity?.origin.device.hex), "deviceName": .string(activity?.origin.deviceName),
        ]
        if header.hasRepository { fields["repository"] = true }
        show("stream", "\(name)\(size)\(device)\(from)\(repository)", fields)
    }

    func progress(_ stream: StreamID, _ position: Int64, of size: Int64?) {
        show(
            "progress", "",
            [
                "stream": .string(stream.hex), "received": .integer(position),
                "size": size.map { .integer($0) } ?? .null,
            ])
    }

    /// - Parameter rate: the duration and the rate, with a leading space; empty if not meaningful.
    func received(_ received: ReceiverTransfer.Received, rate: String) {
        let missing = received.omissions
        if let document, !isTaken {
            status.clear()
            if document.isReported {
                DocumentSource.show(document.text, document.url, at: received.path, isFetched: true, context)
            }
        } else {
            var fields: JSONObject = ["path": .string(received.path), "bytes": .integer(received.bytes)]
            if !missing.isEmpty { fields["missing"] = .integer(missing.count) }
            let size = ByteText.text(received.bytes) + rate
            show("received", received.path.map { "\($0), \(size)" } ?? size, fields)
        }
        for remark in received.remarks { context.note(remark) }
        for line in missing.lines { context.note("missing: \(line)") }
    }

    private func show(_ event: String, _ text: String, _ fields: JSONObject) {
        status.clear()
        // Standard output has only the path of a document.
        if let document, !context.json || !document.isReported { return }
        let line =
            context.json ? JSONLine.text(Describe.event(event, fields)) : "\(Describe.word(event, width: 8))  \(text)"
        isTaken ? context.console.writeDiagnostics(line + "\n") : context.console.line(line)
    }
}

extension JSON {
    /// A string, or null.
    fileprivate static func string(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}
