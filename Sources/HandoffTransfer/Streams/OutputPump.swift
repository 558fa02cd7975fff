package import LoopIO

/// Writes to standard output on a thread, so that a slow reader blocks nothing else. To be used on
/// the loop's thread.
package final class OutputPump {
    /// The numbers of buffered bytes at which `give` requests a pause, and at which `onRoom` ends
    /// it.
    private static let highWaterMark = 1_048_576
    private static let lowWaterMark = 262_144

    private let worker: Worker
    private let loop: EventLoop
    private let write: @Sendable ([UInt8]) throws -> Void
    private var waiting = 0
    private var failure: TransferFailure?
    private var isEmptied: ((Result<Void, TransferFailure>) -> Void)?
    /// Called when there is room after `give` returned false, or when writing failed.
    package var onRoom: ((TransferFailure?) -> Void)?

    /// - Parameter write: writes all bytes, on a thread that may block.
    package init(_ write: @escaping @Sendable ([UInt8]) throws -> Void, on loop: EventLoop) throws(TransferFailure) {
        do throws(Errno) {
            worker = try Worker(name: "output")
        } catch {
            throw .system("cannot write to standard output", error)
        }
        self.write = write
        self.loop = loop
    }

    /// Writes bytes after the previous ones.
    /// - Returns: false if many bytes are buffered. Wait for `onRoom` before the next call.
    package func give(_ bytes: [UInt8]) -> Bool {
        waiting += bytes.count
        let write = write
        worker.run({ try write(bytes) }, on: loop) { [weak self] result in
            self?.wrote(bytes.count, result)
        }
        return waiting <= Self.highWaterMark
    }

    /// Calls back once everything has been written and stored, or writing has failed.
    package func empty(_ then: @escaping (Result<Void, TransferFailure>) -> Void) {
        isEmptied = then
        waiting += 1
        worker.run({ try StandardStream.output.finish() }, on: loop) { [weak self] in self?.wrote(1, $0) }
    }

    private func wrote(_ count: Int, _ result: Result<Void, any Error>) {
        let wasHigh = waiting > Self.lowWaterMark
        waiting -= count
        if case .failure(let error) = result, failure == nil {
            failure = TransferFailure(.unreadable, "cannot write to standard output: \(error)")
            onRoom?(failure)
        } else if wasHigh, waiting <= Self.lowWaterMark {
            onRoom?(nil)
        }
        checkEmpty()
    }

    private func checkEmpty() {
        guard waiting == 0 || failure != nil, let then = isEmptied else { return }
        isEmptied = nil
        then(failure.map { .failure($0) } ?? .success(()))
    }
}
