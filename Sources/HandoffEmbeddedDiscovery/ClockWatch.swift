import CLinux
import Glibc
import HandoffDiscovery

/// Tells when somebody sets the wall clock (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET). Lives on a discovery thread.
final class ClockWatch {
    /// The least change that counts, in nanoseconds: what time synchronisation corrects is no jump.
    private static let threshold = Int64(1_000_000_000)

    private let descriptor: Int32
    private var offset = clinux_clock_offset()
    /// Told in the loop's turn.
    weak var library: AvahiServerLibrary?

    init(loop: DiscoveryLoop) {
        descriptor = clinux_clock_watch()
        guard descriptor >= 0 else { return }
        clinux_clock_watch_arm(descriptor)
        loop.watch(descriptor) { [unowned self] in check() }
    }

    /// To be called when the loop has ended, which freed its watch.
    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    private func check() {
        clinux_clock_watch_arm(descriptor)
        // The kernel also tells at the end of a suspend, in which both clocks go on.
        let now = clinux_clock_offset()
        let (change, overflow) = now.subtractingReportingOverflow(offset)
        guard overflow || change.magnitude > ClockWatch.threshold.magnitude else { return }
        offset = now
        library?.clockWasSet()
    }
}
