internal import LoopIO

/// Files that replace the app's socket for a part of either direction.
extension StreamConnection {
    /// Replaces the app's socket with a file for a part of a direction.
    func pass(_ part: FilePart, report: @escaping (FilePart.Event) -> Void) {
        guard case .open = state, local != nil else { return report(.failed(0, "the stream is not open")) }
        let loop = streamLoop.loop
        do throws(Errno) {
            switch part.direction {
            case .send:
                guard sending == nil, part.position >= outgoing.count, !outgoing.hasEnded else {
                    return report(.positionPassed(outgoing.count))
                }
                let running = try SendingPart(sending: part, on: loop, report: report)
                running.reader.onBlock = { [weak self] in self?.pump() }
                running.reader.onEnd = { [weak self] in self?.sendingEnded(after: $0) }
                running.reader.onFailed = { [weak self] in self?.sendingFailed("\($0)") }
                sending = running
            case .receive:
                guard receiving == nil, part.position >= incoming.delivered, !incoming.isEndDelivered else {
                    return report(.positionPassed(incoming.delivered))
                }
                let running = try ReceivingPart(receiving: part, on: loop, report: report)
                running.writer.onRoom = { [weak self] in self?.pump() }
                running.writer.onFailed = { [weak self] in self?.receivingFailed("\($0)") }
                receiving = running
                // An empty part is complete as soon as its position is reached.
                releaseCompletePart()
            }
        } catch {
            return report(
                .failed(
                    0,
                    error == .wouldBlock
                        ? "too many files are being read, written or closed; some of this app may hang" : "\(error)"
                ))
        }
        pump()
    }

    /// Lets files receive the remaining data, then reports the end of the stream to their owners.
    func endParts(_ report: StreamReport) {
        if let part = sending {
            part.reader.cancel()
            part.end(.over(part.moved, report))
        }
        receiving?.finish(over: report, within: times.linger, on: streamLoop.loop)
        sending = nil
        receiving = nil
    }
}
