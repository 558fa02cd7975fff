import Glibc
import HandoffModel
package import LoopIO
import Synchronization

/// Hashes a file on a thread of its own, from its beginning onwards, also while it is written or sent by somebody else.
///
/// Its methods are for the thread of a loop; each is done after those before it.
package final class FileHasher {
    private let worker: Worker
    private let progress: HashedFile

    /// Starts the thread. The file's offset is not touched (pread(2)).
    /// - Parameter path: for messages.
    package init(_ file: borrowing Descriptor, path: String) throws(TransferFailure) {
        do throws(Errno) {
            progress = HashedFile(try Self.reopen(file), path: path)
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

    /// How many bytes are hashed.
    package var position: Int64 { progress.position }

    /// Hashes up to `end` already, since so much of the file is there. What fails is told by `digest`.
    package func advance(to end: Int64, on loop: EventLoop) {
        let progress = self.progress
        worker.run({ progress.advance(to: end) }, on: loop) { _ in }
    }

    /// Gives the digest of the first `end` bytes to `completion`, on the loop.
    ///
    /// `end` may only grow from call to call. A failure is `changed` when the file has fewer bytes, or `cancelled`.
    package func digest(
        at end: Int64, on loop: EventLoop, completion: @escaping (Result<ContentDigest, TransferFailure>) -> Void
    ) {
        let progress = self.progress
        worker.run({ progress.digest(at: end) }, on: loop) { result in
            switch result {
            case .success(let digest): completion(digest)
            // The work throws nothing.
            case .failure(let error): completion(.failure(TransferFailure(.failed, "\(error)")))
            }
        }
    }

    /// Stops soon; what was asked for fails.
    package func cancel() {
        progress.cancel()
    }
}

/// A file with the hash of its beginning. The worker's thread hashes it; others look at how far that is, and call it off.
private final class HashedFile: Sendable {
    private let descriptor: Descriptor
    private let path: String
    /// Locked for each piece, although one thread alone uses it.
    private let hasher = Locked(SHA256Hasher())
    private let count = Atomic<Int64>(0)
    private let isCancelled = Atomic<Bool>(false)

    /// Bytes between two looks at whether it is called off: some hundred microseconds.
    private static let piece = 262_144

    init(_ descriptor: consuming Descriptor, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    var position: Int64 { count.load(ordering: .relaxed) }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    func digest(at end: Int64) -> Result<ContentDigest, TransferFailure> {
        do throws(TransferFailure) {
            try hash(to: end)
            guard position == end else {
                throw TransferFailure(.failed, "cannot hash \(path): it is hashed beyond that place already")
            }
            return .success(hasher.withLock { $0.digest() })
        } catch {
            return .failure(error)
        }
    }

    func advance(to end: Int64) {
        // What fails here fails again where the digest is asked for.
        do throws(TransferFailure) { try hash(to: end) } catch {}
    }

    private func hash(to end: Int64) throws(TransferFailure) {
        guard position < end else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 4096)
        defer { buffer.deallocate() }
        while position < end {
            guard !isCancelled.load(ordering: .relaxed) else {
                throw TransferFailure(.cancelled, "cannot hash \(path): it was called off")
            }
            let (raw, place, wanted) = (descriptor.raw, position, Int(min(Int64(Self.piece), end - position)))
            let read: Int
            do throws(Errno) {
                read = try SystemCall.retrying { pread(raw, buffer.baseAddress, wanted, off_t(place)) }
            } catch {
                throw .system("cannot read \(path)", error)
            }
            guard read > 0 else {
                throw TransferFailure(.changed, "cannot read \(path) to its end: it has become shorter; try again")
            }
            hasher.withLock { $0.update(UnsafeRawBufferPointer(rebasing: buffer[..<read])) }
            count.store(place + Int64(read), ordering: .relaxed)
        }
    }
}

/// The SHA-256 of a content, 32 bytes.
package struct ContentDigest: FixedBytes {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
