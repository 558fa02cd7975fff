import HandoffAccount

/// Numbers the calls of this device, each greater than the one before. On the daemon's loop.
final class CallCounter {
    /// The generation of this start.
    var generation: UInt64
    private var count: UInt32 = 0

    init(generation: UInt64) {
        self.generation = generation
    }

    /// Returns the number of the next call.
    func next() -> Gate.Serial {
        // When the numbers are used up, the static label no longer opens to this device until its
        // next start.
        if count < .max { count += 1 }
        return Gate.Serial(generation: generation, call: count)
    }
}
