import CLinux
import Glibc

/// Reads a passed file, pipe or socket on a separate thread and delivers the bytes in at most two
/// blocks: one is read while the owner uses the other.
///
/// A thread is needed because a regular file cannot be polled, and reading a file of a network or
/// FUSE file system may block forever. Use the reader on the loop's thread only; it never blocks.
/// Set the handlers right after creating it.
package final class FileReader {
    /// Called when a block is available, for each block that was read or once for several.
    package var onBlock: (() -> Void)?
    /// Called once, with the total number of bytes, after all requested or existing bytes were
    /// taken. If the total is less than the length, the file has ended early.
    package var onEnd: ((Int64) -> Void)?
    /// Called once if reading has failed, after all bytes read before were taken.
    package var onFailed: ((Errno) -> Void)?

    private let loop: EventLoop
    private let channel: FileChannel
    /// The end was reported, or the reader was cancelled.
    private var hasEnded = false

    /// Starts reading at the file's current offset (read(2)). The thread owns and closes the
    /// descriptor.
    /// - Parameters:
    ///   - file: a file that `check(for:)` has accepted.
    ///   - length: the number of bytes to read; nil reads to the end.
    ///   - blockSize: the capacity of one block in bytes.
    /// - Throws: `wouldBlock` (EAGAIN) if 64 readers and writers exist already, or 32 of one
    ///   source, or an error of eventfd(2). The caller then still owns the file.
    package init(_ file: PassedFile, length: Int64?, on loop: EventLoop, blockSize: Int = 1 << 20) throws(Errno) {
        loop.assertOwned()
        guard let raw = file.raw else { throw .badDescriptor }
        self.loop = loop
        let kind = try FileKind(of: raw)
        channel = try FileChannel(loop: loop)
        channel.onProgress.value = { [weak self] in self?.progress() }
        let work = ReadWork(channel: channel, kind: kind, length: length)
        try channel.start(name: "file reader", file: file, reportsClose: false) { work.run($0) }
        let maxBytes = length.map { Int(clamping: max(1, $0)) } ?? .max
        channel.give(FileBlock(capacity: min(blockSize, maxBytes)))
        if maxBytes > blockSize { channel.give(FileBlock(capacity: blockSize)) }
    }

    deinit {
        cancel()
    }

    /// Returns the next block, or nil if none is available. Return it by `recycle`: until then one
    /// block fewer is read.
    package func take() -> FileBlock? {
        loop.assertOwned()
        guard !hasEnded, let block = channel.takeBlock() else { return nil }
        if isAtEnd { loop.later { [weak self] in self?.reportEnd() } }
        return block
    }

    /// Returns a block that was taken from this reader.
    package func recycle(_ block: FileBlock) {
        loop.assertOwned()
        guard !hasEnded else { return }
        block.count = 0
        channel.give(block)
    }

    /// Ends the reader. No handler is called afterwards. The thread closes the file and ends as
    /// soon as its system call returns.
    package func cancel() {
        loop.assertOwned()
        hasEnded = true
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
        guard !hasEnded, isAtEnd, let outcome = channel.outcome else { return }
        let onEnd = self.onEnd
        let onFailed = self.onFailed
        cancel()
        switch outcome {
        case .success(let total): onEnd?(total)
        case .failure(let error): onFailed?(error)
        }
    }
}

/// The work of a `FileReader`'s thread.
private struct ReadWork: Sendable {
    let channel: FileChannel
    let kind: FileKind
    /// The number of bytes to read; nil reads to the end.
    let length: Int64?

    /// Returns the number of bytes, or nil if it was cancelled.
    func run(_ descriptor: Int32) -> Result<Int64, Errno>? {
        // Only a hint, which increases the read-ahead.
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

    /// Reads once. Returns 0 at the end, nil if it was cancelled.
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
                // Another reader has taken the bytes.
                if isPolled, error == .wouldBlock { continue }
                throw error
            }
        }
    }
}
