import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer

/// A file in the copies of an activity that other devices keep. Its recipient cannot open a
/// stream, because the origin is asleep or off.
struct KeptItem {
    let header: TransferHeader
    let size: Int

    /// Returns nil if the activity contains no file.
    init?(_ activity: ContinuedActivity) {
        guard activity.type == .content, let size = activity.kept?.size, let name = activity.userInfo["name"]?.string,
            let header = TransferHeader(kind: .file, name: name, size: Int64(size))
        else { return nil }
        self.header = header
        self.size = size
    }

    /// Returns whether an offer contains a file. Only the copy of an item that was sent does.
    static func isIn(_ offer: OfferedActivity) -> Bool { offer.kept != nil && offer.sent && offer.type == .content }

    /// Saves the file as received content, with a name that is safe.
    func save(
        _ content: [UInt8], to destination: Destination, from device: DeviceID, _ writeOutput: ([UInt8]) throws -> Void
    ) throws(TransferFailure) -> ReceiverTransfer.Received {
        switch try destination.open(header, from: device) {
        case .standardOutput:
            do {
                try writeOutput(content)
            } catch {
                throw TransferFailure(.unreadable, "cannot write to standard output: \(error)")
            }
            return ReceiverTransfer.Received(path: nil, bytes: Int64(content.count))
        case .file(let part):
            try part.prepare(offset: 0, length: header.size)
            try part.write(content)
            let path = try part.finish()
            return ReceiverTransfer.Received(path: path, bytes: Int64(content.count), remarks: part.remarks)
        case .folder: throw TransferFailure(.malformed, "a file arrived as a folder")
        }
    }
}
