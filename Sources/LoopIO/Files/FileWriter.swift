import CLinux
import Glibc

/// Writes to a passed file, pipe or socket on a separate thread, from at most two blocks: one is
/// filled while the other is written. The data is not synchronised (fsync(2)).
///
/// Use it on the loop's thread only; it never blocks. Set the handlers right after creating it.
package final class FileWriter {
    /// Called when there is room again after `write` has left none.
    package var onRoom: (() -> Void)?
    /// Called once if writing has failed (for example ENOSPC, or EPIPE if there is no reader), but
    /// not after `finish`. The file is closed. See `written` for the progress.
    package var onFailed: ((Errno) -> Void)?

    /// The maximum number of blocks.
    private static let blockLimit = 2

    private let loop: EventLoop
    private let channel: FileChannel
    private let blockSize: Int
    private var filling: FileBlock?
    private var free: [FileBlock] = []
    private var blockCount = 0
    /// The number of blocks that the thread has.
    private var submitted = 0
    private var wantsRoom = false
    private var hasEnded = false
    private var completion: ((Result<Int64, Errno>) -> Void)?

    /// Starts writing at the file's current offset (write(2)). The thread owns and closes the
    /// descriptor.
    /// - Parameters:
    ///   - file: a file that `check(for:)` has accepted.
    ///   - blockSize: the capacity of one block in bytes.
    /// - Throws: `wouldBlock` (EAGAIN) if 64 readers and writers exist already, or 32 of one
    ///   source, or an error of eventfd(2). The caller then still owns the file.
    package init(_ file: PassedFile, on loop: EventLoop, blockSize: Int = 1 << 20) throws(Errno) {
        loop.assertOwned()
        guard let raw = file.raw else { throw .badDescriptor }
        self.loop = loop
        self.blockSize = blockSize
        let kind = try FileKind(of: raw)
        channel = try FileChannel(loop: loop)
        channel.onProgress.value = { [weak self] in self?.progress() }
        let work = WriteWork(channel: channel, kind: kind)
        try channel.start(name: "file writer", file: file, reportsClose: true) { work.run($0) }
    }

    deinit {
        cancel()
    }

    /// The number of bytes that `write` accepts now.
    package var room: Int {
        loop.assertOwned()
        guard !hasEnded, completion == nil else { return 0 }
        return (filling?.room ?? 0) + (free.count + Self.blockLimit - blockCount) * blockSize
    }

    /// The number of bytes that the kernel has accepted so far.
    package var written: Int64 { channel.moved }

    /// Accepts as many bytes as there is room for and returns their number. Wait for `onRoom` to
    /// write the rest. Returns 0 after a failure or `finish`.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        loop.assertOwned()
        guard !hasEnded, completion == nil else { return 0 }
        var taken = 0
        while taken < bytes.count, let block = blockToFill() {
            taken += block.append(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
            if block.room == 0 { submit() }
        }
        // An idle thread gets the bytes immediately. A busy one gets a fuller block when it has
        // finished its current one.
        if submitted == 0 { submit() }
        wantsRoom = room == 0
        return taken
    }

    /// Accepts bytes like `write` of a raw buffer.
    package func write(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBytes { write($0) }
    }

    /// Calls `completion` with the total number of bytes after everything is written and the file
    /// is closed, or with the error. `onRoom` and `onFailed` are not called afterwards. May be
    /// called once only.
    package func finish(_ completion: @escaping (Result<Int64, Errno>) -> Void) {
        loop.assertOwned()
        guard !hasEnded, self.completion == nil else { return }
        self.completion = completion
        submit()
        channel.finish()
    }

    /// Ends the writer. No handler is called afterwards, and bytes not written yet are lost. The
    /// thread closes the file and ends as soon as its system call returns.
    package func cancel() {
        loop.assertOwned()
        hasEnded = true
        channel.cancel()
        channel.onProgress.value = nil
        onRoom = nil
        onFailed = nil
        completion = nil
        filling = nil
        free = []
    }

    /// Returns the block for the next bytes, or nil if the thread has both.
    private func blockToFill() -> FileBlock? {
        if filling == nil {
            if let block = free.popLast() {
                filling = block
            } else if blockCount < Self.blockLimit {
                blockCount += 1
                filling = FileBlock(capacity: blockSize)
            }
        }
        return filling
    }

    /// Passes the filled block to the thread.
    private func submit() {
        guard let block = filling, block.count > 0 else { return }
        filling = nil
        submitted += 1
        channel.give(block)
    }

    private func progress() {
        while let block = channel.takeBlock() {
            block.count = 0
            free.append(block)
            submitted -= 1
        }
        if let outcome = channel.outcome { return report(outcome) }
        if submitted == 0 { submit() }
        guard wantsRoom, room > 0 else { return }
        wantsRoom = false
        onRoom?()
    }

    private func report(_ outcome: Result<Int64, Errno>) {
        let completion = self.completion
        let onFailed = self.onFailed
        cancel()
        if let completion { return completion(outcome) }
        if case .failure(let error) = outcome { onFailed?(error) }
    }
}

/// The work of a `FileWriter`'s thread.
private struct WriteWork: Sendable {
    let channel: FileChannel
    let kind: FileKind

    /// Returns the number of bytes, or nil if it was cancelled.
    func run(_ descriptor: Int32) -> Result<Int64, Errno>? {
        do throws(Errno) {
            while true {
                switch try channel.next() {
                case .block(let block):
                    guard try write(block, to: descriptor) else { return nil }
                    channel.deliver(block)
                case .finish:
                    return .success(channel.moved)
                case .cancel:
                    return nil
                }
            }
        } catch {
            return .failure(error)
        }
    }

    /// Writes a whole block. Returns false if it was cancelled.
    private func write(_ block: FileBlock, to descriptor: Int32) throws(Errno) -> Bool {
        var start = 0
        while start < block.count {
            let result = block.withUnsafeBytes { bytes in
                Result { () throws(Errno) in
                    try write(UnsafeRawBufferPointer(rebasing: bytes[start...]), to: descriptor)
                }
            }
            guard let count = try result.get() else { return false }
            start += count
            channel.add(moved: count)
        }
        return true
    }

    /// Writes once. Returns how many bytes were accepted, or nil if it was cancelled.
    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(Errno) -> Int? {
        let isPolled = kind.isPolled
        let isSocket: Int32 = kind == .socket ? 1 : 0
        while true {
            do throws(Errno) {
                if isPolled, try !channel.waitUntilReady(descriptor, POLLOUT) { return nil }
                let count = try SystemCall.retrying {
                    isPolled
                        ? clinux_write_now(descriptor, isSocket, bytes.baseAddress, bytes.count)
                        : Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                }
                // Prevents an endless loop if a file accepts nothing and reports no error.
                guard count > 0 else { throw .inputOutput }
                return count
            } catch {
                // Another writer has filled the pipe or socket.
                if isPolled, error == .wouldBlock { continue }
                throw error
            }
        }
    }
}
