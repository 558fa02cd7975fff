/// A buffer for encoded JSON that manages its own memory. An array would check at each byte whether
/// its storage is shared, and messages consist of hundreds of pieces of a few bytes.
///
/// Every `put` reserves memory before it writes, so the contents never determine a write position.
struct JSONWriter: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init() {
        // Larger than most messages.
        memory = .allocate(byteCount: 4096, alignment: 1)
    }

    deinit {
        memory.deallocate()
    }

    /// Lends the bytes written so far.
    func lend<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    mutating func put(_ byte: UInt8) {
        makeRoom(1)
        memory[count] = byte
        count += 1
    }

    /// Writes bytes unchanged.
    mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(bytes.count)
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        (target + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Writes the UTF-8 bytes of a string unchanged.
    mutating func put(plain text: String) {
        var text = text
        text.withUTF8 { put($0) }
    }

    /// Writes bytes that need no escapes, in quotes.
    mutating func put(quoted bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(bytes.count + 2)
        guard let target = memory.baseAddress else { return }
        memory[count] = UInt8(ascii: "\"")
        if let source = bytes.baseAddress { (target + count + 1).copyMemory(from: source, byteCount: bytes.count) }
        memory[count + 1 + bytes.count] = UInt8(ascii: "\"")
        count += bytes.count + 2
    }

    private mutating func makeRoom(_ more: Int) {
        if memory.count - count < more { grow(more) }
    }

    private mutating func grow(_ more: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * memory.count, count + more), alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }
}
