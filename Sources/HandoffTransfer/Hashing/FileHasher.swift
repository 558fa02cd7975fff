import Glibc
import HandoffModel
package import LoopIO
import Synchronization

/// Hashes the beginning of a file on its own thread, so that two devices can compare it. Its
/// methods must be called on the thread of a loop.
package final class FileHasher {
    private let worker: Worker
    private let beginning: FileBeginning

    /// Starts the thread. Does not change the file's offset (pread(2)).
    /// - Parameter path: for messages.
    init(_ file: borrowing Descriptor, path: String) throws(TransferFailure) {
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

    /// Opens the file again. A duplicate would keep a part locked while the thread runs.
    private static func reopen(_ file: borrowing Descriptor) throws(Errno) -> Descriptor {
        let number = file.raw
        do throws(Errno) {
            return Descriptor(
                owning: try SystemCall.retrying { open("/proc/self/fd/\(number)", O_RDONLY | O_NOCTTY | O_CLOEXEC) })
        } catch {
            // /proc is missing, or the file may no longer be opened.
            return try file.duplicate()
        }
    }

    /// Computes the digest of the first `length` bytes and passes it to `completion` on the loop.
    /// Fails with `changed` if the file is shorter, or with `cancelled`.
    package func digest(
        _ length: Int64, on loop: EventLoop, completion: @escaping (Result<ContentDigest, TransferFailure>) -> Void
    ) {
        let beginning = self.beginning
        worker.run({ beginning.digest(length) }, on: loop) { result in
            switch result {
            case .success(let digest): completion(digest)
            // The work never throws.
            case .failure(let error): completion(.failure(TransferFailure(.failed, "\(error)")))
            }
        }
    }

    /// Stops soon. Pending requests fail.
    package func cancel() {
        beginning.cancel()
    }
}

/// The file that a worker thread hashes. Any thread can cancel it.
private final class FileBeginning: Sendable {
    private let descriptor: Descriptor
    private let path: String
    private let isCancelled = Atomic<Bool>(false)

    /// Bytes between two checks for cancellation: some hundred microseconds.
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
                throw TransferFailure(.cancelled, "cannot hash \(path): it was cancelled")
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

    /// Fills the buffer. A network file system may return the bytes in several pieces.
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
