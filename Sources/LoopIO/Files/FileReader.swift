import CLinux
import Glibc

/// Reads a passed file, pipe or socket on a thread of its own and hands the bytes over in blocks, at most two of them: the
/// next is read while the owner uses the one before.
///
/// A thread, because a regular file cannot be polled, and reading one of a network or FUSE file system may wait for ever.
/// Used on the loop's thread only, and never waits. Set the handlers right after making it.
package final class FileReader {
    /// There is something to take. Called again for each block that was read, or once for several.
    package var onBlock: (() -> Void)?
    /// All bytes that were asked for, or that there are, have been taken; called once, with their count. Fewer than the
    /// length: the file has ended early.
    package var onEnd: ((Int64) -> Void)?
    /// Reading has failed; called once, after what was read before has been taken.
    package var onFailed: ((Errno) -> Void)?

    private let loop: EventLoop
    private let channel: FileChannel
    /// Whether its end was reported, or it was cancelled.
    private var isOver = false

    /// Starts reading at the file's current offset (read(2)); the thread takes the descriptor and closes it.
    /// - Parameters:
    ///   - file: checked with `check(for:)`.
    ///   - length: how many bytes to read; nil: to the end.
    ///   - blockSize: what one block holds, in bytes.
    /// - Throws: `wouldBlock` (EAGAIN) when 64 readers and writers live already, or 32 of one source, or an error of eventfd(2). Then the file is
    ///   still the caller's.
    package init(_ file: PassedFile, length: Int64?, on loop: EventLoop, blockSize: Int = 1 << 20) throws(Errno) {
        loop.assertOwned()
        guard let raw = file.raw else { throw .badDescriptor }
        self.loop = loop
        let kind = try FileKind(of: raw)
        channel = try FileChannel(loop: loop)
        channel.onProgress.value = { [weak self] in self?.progress() }
        let work = ReadWork(channel: channel, kind: kind, length: length)
        try channel.start(name: "file reader", file: file, reportsClose: false) { work.run($0) }
        let most = length.map { Int(clamping: max(1, $0)) } ?? .max
        channel.give(FileBlock(capacity: min(blockSize, most)))
        if most > blockSize { channel.give(FileBlock(capacity: blockSize)) }
    }

    deinit {
        cancel()
    }

    /// Takes the next block; nil when there is none now. Give it back by `recycle`: until then one block less is read.
    package func take() -> FileBlock? {
        loop.assertOwned()
        guard !isOver, let block = channel.takeBlock() else { return nil }
        if isAtEnd { loop.later { [weak self] in self?.reportEnd() } }
        return block
    }

    /// Gives back a block that was taken from this reader.
    package func recycle(_ block: FileBlock) {
        loop.assertOwned()
        guard !isOver else { return }
        block.count = 0
        channel.give(block)
    }

    /// Ends it; no handler is called any more. The thread ends and closes the file as soon as the kernel lets it.
    package func cancel() {
        loop.assertOwned()
        isOver = true
        channel.cancel()
        channel.onProgress.value = nil
        onBlock = nil
        onEnd = nil
        onFailed = nil
    }

    private var isAtEnd: Bool { channel.outcome != nil && !channel.hasBlock }

    private func progress() {
        if channel.hasBlock { onBlock?() }
        reportEnd()
    }

    private func reportEnd() {
        guard !isOver, isAtEnd, let outcome = channel.outcome else { return }
        let onEnd = self.onEnd
        let onFailed = self.onFailed
        cancel()
        switch outcome {
        case .success(let total): onEnd?(total)
        case .failure(let error): onFailed?(error)
        }
    }
}

/// What the thread of a `FileReader` does.
private struct ReadWork: Sendable {
    let channel: FileChannel
    let kind: FileKind
    /// How many bytes to read; nil: to the end.
    let length: Int64?

    /// Returns the count of bytes, or nil when it was cancelled.
    func run(_ descriptor: Int32) -> Result<Int64, Errno>? {
        // Only a hint: more is read ahead.
        if kind == .regular { posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }
        do throws(Errno) {
            return try readAll(descriptor).map { .success($0) }
        } catch {
            return .failure(error)
        }
    }

    private func readAll(_ descriptor: Int32) throws(Errno) -> Int64? {
        var total: Int64 = 0
        while true {
            let left = (length ?? .max) - total
            guard left > 0 else { return total }
            guard case .block(let block) = try channel.next() else { return nil }
            let room = block.free
            let target = UnsafeMutableRawBufferPointer(rebasing: room[..<min(room.count, Int(left))])
            guard let count = try read(descriptor, into: target) else { return nil }
            guard count > 0 else { return total }
            block.count = count
            total += Int64(count)
            channel.add(moved: count)
            channel.deliver(block)
        }
    }

    /// Reads once. Returns 0 at the end, and nil when it was cancelled.
    private func read(_ descriptor: Int32, into target: UnsafeMutableRawBufferPointer) throws(Errno) -> Int? {
        let isPolled = kind.isPolled
        let isSocket: Int32 = kind == .socket ? 1 : 0
        while true {
            do throws(Errno) {
                if isPolled, try !channel.waitUntilReady(descriptor, POLLIN) { return nil }
                return try SystemCall.retrying {
                    isPolled
                        ? clinux_read_now(descriptor, isSocket, target.baseAddress, target.count)
                        : Glibc.read(descriptor, target.baseAddress, target.count)
                }
            } catch {
                // Another reader was faster.
                if isPolled, error == .wouldBlock { continue }
                throw error
            }
        }
    }
}
