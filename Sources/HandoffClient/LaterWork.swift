import LoopIO

/// Something that is done in the next turn of a loop; keeps itself alive until then.
final class LaterWork {
    private let work: () -> Void
    private var timer: LoopTimer?

    init(_ work: @escaping () -> Void) {
        self.work = work
    }

    /// Arms it. Without memory for a timer the work is done now, which is the lesser evil.
    func start(on loop: EventLoop) {
        timer = loop.timer(after: .zero) { [self] in
            timer = nil
            work()
        }
    }
}
