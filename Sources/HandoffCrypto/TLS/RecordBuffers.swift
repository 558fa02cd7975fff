internal import COpenSSL

/// The two ends of the wire as OpenSSL sees them: received ciphertext and ciphertext to send (a
/// custom BIO).
///
/// OpenSSL's memory BIO would copy every byte once more in each direction. This one reads directly
/// from the arrays that the socket filled, and returns the array that it wrote.
final class RecordBuffers {
    private var output: [UInt8] = []
    private var outputStart = 0
    private var input: [UInt8] = []
    private var inputStart = 0
    private var inputEnd = 0
    /// True if `input` is this object's reusable memory, false if it is an array passed by the
    /// caller.
    private var isInputKept = false

    /// The number of received bytes that OpenSSL has not read.
    var inputCount: Int { inputEnd - inputStart }

    /// The number of bytes written by OpenSSL and not yet taken.
    var outputCount: Int { output.count - outputStart }

    // MARK: Input

    /// Adds received ciphertext.
    func receive(_ bytes: [UInt8]) {
        if inputCount == 0 {
            input = bytes
            isInputKept = false
            (inputStart, inputEnd) = (0, bytes.count)
        } else {
            moveInputToFront(room: bytes.count)
            input.replaceSubrange(inputEnd..<inputEnd + bytes.count, with: bytes)
            inputEnd += bytes.count
        }
    }

    /// Adds ciphertext that `fill` writes, at most `count` bytes. The memory is reused after it was
    /// read.
    ///
    /// - Parameter fill: returns how many bytes it wrote.
    func receive(upTo count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
        isInputKept = true
        moveInputToFront(room: count)
        let end = inputEnd
        inputEnd += input.withUnsafeMutableBytes { bytes in
            fill(UnsafeMutableRawBufferPointer(rebasing: bytes[end..<end + count]))
        }
    }

    /// Discards received ciphertext.
    func dropInput() {
        if !isInputKept { input = [] }
        (inputStart, inputEnd) = (0, 0)
    }

    private func moveInputToFront(room: Int) {
        if inputStart > 0 {
            input.removeSubrange(..<inputStart)
            (inputStart, inputEnd) = (0, inputCount)
        }
        guard inputEnd + room > input.count else { return }
        let old = input
        let (size, kept) = (inputEnd + room, inputEnd)
        // In two bulk operations: byte by byte, a debug build takes milliseconds per stream.
        input = [UInt8](unsafeUninitializedCapacity: size) { memory, count in
            let memory = UnsafeMutableRawBufferPointer(memory)
            old.withUnsafeBytes { memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<kept])) }
            OPENSSL_cleanse(memory.baseAddress.map { $0 + kept }, size - kept)
            count = size
        }
    }

    // MARK: Output

    /// Reserves memory for the records of `count` bytes of plaintext once, instead of for each
    /// record.
    func reserveOutput(forPlaintext count: Int) {
        let recordOverhead = 5 + 1 + 16  // header, inner type, tag
        let records = count / Int(SSL3_RT_MAX_PLAIN_LENGTH) + 1
        output.reserveCapacity(output.count + count + records * recordOverhead)
    }

    /// Returns all ciphertext, and transfers its memory.
    func takeOutput() -> [UInt8] {
        let taken = outputStart == 0 ? output : Array(output[outputStart...])
        dropOutput()
        return taken
    }

    /// Passes the ciphertext to `send`, which returns how many bytes it accepted. The memory is
    /// reused.
    func drainOutput(_ send: (UnsafeRawBufferPointer) -> Int) {
        guard outputCount > 0 else { return }
        outputStart += output.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[outputStart...])) }
        guard outputCount == 0 else { return }
        output.removeAll(keepingCapacity: true)
        outputStart = 0
    }

    /// Discards ciphertext that was not taken.
    func dropOutput() {
        output = []
        outputStart = 0
    }

    /// Releases the memory of empty buffers.
    func releaseMemory() {
        if inputCount == 0 {
            input = []
            (inputStart, inputEnd) = (0, 0)
        }
        if outputCount == 0 { dropOutput() }
    }

    // MARK: BIO

    /// Creates a BIO over this object, which must outlive it; NULL on failure.
    func makeBIO() -> OpaquePointer? {
        guard let method = Self.method, let bio = BIO_new(method.pointer) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    private func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(target.count, inputCount)
        guard count > 0 else { return 0 }
        input.withUnsafeBytes { bytes in
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[inputStart..<inputStart + count]))
        }
        inputStart += count
        if inputCount == 0 { dropInput() }
        return count
    }

    /// The functions by which OpenSSL calls a `RecordBuffers` (BIO_METHOD). Created once and never
    /// changed.
    private static let method: SharedHandle? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "handoff records") else {
            return nil
        }
        BIO_meth_set_read(method) { bio, target, count in
            BIO_clear_flags(bio, RecordBuffers.retryFlags)
            guard let buffers = RecordBuffers.of(bio), count > 0 else { return -1 }
            let read = buffers.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(count)))
            guard read > 0 else {
                BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                return -1
            }
            return Int32(read)
        }
        BIO_meth_set_write(method) { bio, source, count in
            BIO_clear_flags(bio, RecordBuffers.retryFlags)
            guard let buffers = RecordBuffers.of(bio), count > 0 else { return -1 }
            buffers.output += UnsafeRawBufferPointer(start: source, count: Int(count))
            return count
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // Bytes are never held back, so a flush always succeeds. Other commands do not apply.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return SharedHandle(method, free: BIO_meth_free)
    }()

    private static let retryFlags =
        BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

    private static func of(_ bio: OpaquePointer?) -> RecordBuffers? {
        // `makeBIO` has stored it there. It outlives the BIO.
        BIO_get_data(bio).map { Unmanaged<RecordBuffers>.fromOpaque($0).takeUnretainedValue() }
    }
}
