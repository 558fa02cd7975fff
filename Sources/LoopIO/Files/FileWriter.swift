import CLinux
import Glibc

/// Writes to a passed file, pipe or socket on a thread of its own, from at most two blocks: one is filled while the other
/// is written. What is written is not synchronised (fsync(2)).
///
/// Used on the loop's thread only, and never waits. Set the handlers right after making it.
package final class FileWriter {
    /// There is room again after `write` has left none.
    package var onRoom: (() -> Void)?
    /// Writing has failed (for example ENOSPC, or EPIPE: nobody reads); called once, and not after `finish`. The file is
    /// closed; `written` says how far it came.
    package var onFailed: ((Errno) -> Void)?

    /// Blocks in all.
    private static let blockLimit = 2

    private let loop: EventLoop
    private let channel: FileChannel
    private let blockSize: Int
    private var filling: FileBlock?
    private var free: [FileBlock] = []
    private var made = 0
    /// Blocks that the thread has.
    private var submitted = 0
    private var wantsRoom = false
    private var isOver = false
    private var completion: ((Result<Int64, Errno>) -> Void)?

    /// Starts writing at the file's current offset (write(2)); the thread takes the descriptor and closes it.
    /// - Parameters:
    ///   - file: checked with `check(for:)`.
    ///   - blockSize: what one block holds, in bytes.
    /// - Throws: `wouldBlock` (EAGAIN) when 64 readers and writers live already, or 32 of one source, or an error of eventfd(2). Then the file is
    ///   still the caller's.
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

    /// How many bytes `write` takes now.
    package var room: Int {
        loop.assertOwned()
        guard !isOver, completion == nil else { return 0 }
        return (filling?.room ?? 0) + (free.count + Self.blockLimit - made) * blockSize
    }

    /// How many bytes the kernel has taken so far.
    package var written: Int64 { channel.moved }

    /// Takes bytes, as far as there is room. Returns how many; for the rest wait for `onRoom`. 0 after a failure too, and
    /// after `finish`.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        loop.assertOwned()
        guard !isOver, completion == nil else { return 0 }
        var taken = 0
        while taken < bytes.count, let block = blockToFill() {
            taken += block.append(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
            if block.room == 0 { submit() }
        }
        // A thread with nothing to do gets what there is; a busy one finds more when it comes back.
        if submitted == 0 { submit() }
        wantsRoom = room == 0
        return taken
    }

    /// Takes bytes as `write` of a raw buffer does.
    package func write(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBytes { write($0) }
    }

    /// Calls `completion` once everything is written and the file is closed, with the count of bytes, or when that fails.
    /// From now on `onRoom` and `onFailed` are not called. Once only.
    package func finish(_ completion: @escaping (Result<Int64, Errno>) -> Void) {
        loop.assertOwned()
        guard !isOver, self.completion == nil else { return }
        self.completion = completion
        submit()
        channel.finish()
    }

    /// Ends it; no handler is called any more, and what is not written yet is lost. The thread ends and closes the file as
    /// soon as the kernel lets it.
    package func cancel() {
        loop.assertOwned()
        isOver = true
        channel.cancel()
        channel.onProgress.value = nil
        onRoom = nil
        onFailed = nil
        completion = nil
        filling = nil
        free = []
    }

    /// The block that takes the next bytes; nil when both are on their way.
    private func blockToFill() -> FileBlock? {
        if filling == nil {
            if let block = free.popLast() {
                filling = block
            } else if made < Self.blockLimit {
                made += 1
                filling = FileBlock(capacity: blockSize)
            }
        }
        return filling
    }

    /// Gives the thread what was filled.
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

/// What the thread of a `FileWriter` does.
private struct WriteWork: Sendable {
    let channel: FileChannel
    let kind: FileKind

    /// Returns the count of bytes, or nil when it was cancelled.
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

    /// Writes a whole block. Returns false when it was cancelled.
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

    /// Writes once. Returns how many bytes were taken, and nil when it was cancelled.
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
                // A file that takes nothing and says nothing would keep us here for ever.
                guard count > 0 else { throw .inputOutput }
                return count
            } catch {
                // Another writer was faster.
                if isPolled, error == .wouldBlock { continue }
                throw error
            }
        }
    }
}
