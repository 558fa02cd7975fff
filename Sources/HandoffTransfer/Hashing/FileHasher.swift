import Glibc
import HandoffModel
package import LoopIO
import Synchronization

/// Hashes the beginning of a file on a thread of its own, so that two devices can tell whether they have the same. Its methods
/// are for the thread of a loop.
package final class FileHasher {
    private let worker: Worker
    private let beginning: FileBeginning

    /// Starts the thread. The file's offset is not touched (pread(2)).
    /// - Parameter path: for messages.
    package init(_ file: borrowing Descriptor, path: String) throws(TransferFailure) {
        do throws(Errno) {
            beginning = FileBeginning(try Self.reopen(file), path: path)
            worker = try Worker(name: "hash")
        } catch {
            throw .system("cannot hash \(path)", error)
        }
    }

    deinit {
        cancel()
    }

    /// Opens the file again. A duplicate would keep the lock of a part for as long as the thread goes on.
    private static func reopen(_ file: borrowing Descriptor) throws(Errno) -> Descriptor {
        let number = file.raw
        do throws(Errno) {
            return Descriptor(
                owning: try SystemCall.retrying { open("/proc/self/fd/\(number)", O_RDONLY | O_NOCTTY | O_CLOEXEC) })
        } catch {
            // No /proc, or a file that we may not open any more.
            return try file.duplicate()
        }
    }

    /// Gives the digest of the first `length` bytes to `completion`, on the loop. A failure is `changed` when the file has fewer
    /// bytes, or `cancelled`.
    package func digest(
        _ length: Int64, on loop: EventLoop, completion: @escaping (Result<ContentDigest, TransferFailure>) -> Void
    ) {
        let beginning = self.beginning
        worker.run({ beginning.digest(length) }, on: loop) { result in
            switch result {
            case .success(let digest): completion(digest)
            // The work throws nothing.
            case .failure(let error): completion(.failure(TransferFailure(.failed, "\(error)")))
            }
        }
    }

    /// Stops soon; what was asked for fails.
    package func cancel() {
        beginning.cancel()
    }
}

/// The file that a worker's thread hashes, and that others can call off.
private final class FileBeginning: Sendable {
    private let descriptor: Descriptor
    private let path: String
    private let isCancelled = Atomic<Bool>(false)

    /// Bytes between two looks at whether it is called off: some hundred microseconds.
    private static let piece = 262_144

    init(_ descriptor: consuming Descriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    func digest(_ length: Int64) -> Result<ContentDigest, TransferFailure> {
        do throws(TransferFailure) {
            return .success(try hash(length))
        } catch {
            return .failure(error)
        }
    }

    private func hash(_ length: Int64) throws(TransferFailure) -> ContentDigest {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 4096)
        defer { buffer.deallocate() }
        guard (try? FileState(of: descriptor.raw).size) ?? 0 >= length else { throw hasShrunk }
        var hasher = BlockHasher()
        var position: Int64 = 0
        while true {
            guard !isCancelled.load(ordering: .relaxed) else {
                throw TransferFailure(.cancelled, "cannot hash \(path): it was called off")
            }
            let data = DataRuns.firstData(in: descriptor.raw, from: position, size: length)
            position = max(position, data - data % BlockHasher.block)
            guard position < length else { return hasher.digest(length: length) }
            let count = Int(min(Int64(Self.piece), length - position))
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            try read(bytes, at: position)
            hasher.update(UnsafeRawBufferPointer(bytes), at: position)
            position += Int64(bytes.count)
        }
    }

    /// Reads so many bytes, which a network file system may return in several pieces.
    private func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(TransferFailure) {
        let raw = descriptor.raw
        var count = 0
        while count < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
            let place = off_t(offset + Int64(count))
            let read: Int
            do throws(Errno) {
                read = try SystemCall.retrying { pread(raw, rest.baseAddress, rest.count, place) }
            } catch {
                throw .system("cannot read \(path)", error)
            }
            guard read > 0 else { throw hasShrunk }
            count += read
        }
    }

    private var hasShrunk: TransferFailure {
        TransferFailure(.changed, "cannot read \(path) to its end: it has become shorter; try again")
    }
}
