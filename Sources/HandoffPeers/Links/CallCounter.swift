import HandoffAccount

/// Numbers the calls of this device, each greater than the one before. On the daemon's loop.
final class CallCounter {
    /// The number of this start.
    var boot: UInt64
    private var count: UInt32 = 0

    init(boot: UInt64) {
        self.boot = boot
    }

    /// The number of one more call.
    func next() -> Gate.Serial {
        // At the end of the numbers the static label opens to this device no more until its next start.
        if count < .max { count += 1 }
        return Gate.Serial(boot: boot, call: count)
    }
}
