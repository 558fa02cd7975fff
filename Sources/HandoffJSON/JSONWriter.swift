/// Gathers the bytes of a text in memory of its own: an array asks at each byte whether it is shared, and messages have hundreds of
/// pieces of a few bytes.
///
/// Every `put` makes room first for what it writes, so that nothing that is written decides where.
struct JSONWriter: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    /// A writer that has written nothing.
    init() {
        // More than most messages have.
        memory = .allocate(byteCount: 4096, alignment: 1)
    }

    deinit {
        memory.deallocate()
    }

    /// Lends what was written.
    func lend<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Writes one byte.
    mutating func put(_ byte: UInt8) {
        makeRoom(1)
        memory[count] = byte
        count += 1
    }

    /// Writes bytes as they are.
    mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        makeRoom(bytes.count)
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        (target + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Writes the bytes of a text as they are.
    mutating func put(plain text: String) {
        var text = text
        text.withUTF8 { put($0) }
    }

    /// Writes bytes between quotes that need no escape.
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
