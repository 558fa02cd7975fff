import LoopIO
import Timing

/// The time that a pairing window has left, counted down at the bottom of a terminal.
final class Countdown {
    private let context: CommandContext
    private let line: StatusLine
    private var end: MonotonicInstant?
    private var isVisible = false
    private var timer: LoopTimer?

    init(_ context: CommandContext) {
        self.context = context
        line = StatusLine(context.console)
    }

    /// Begins to count; shows nothing yet.
    func start(for time: Duration) {
        end = context.loop.now.advanced(by: time)
    }

    /// Shows it, once a second.
    func show() {
        guard line.isPossible, context.status == nil else { return }
        isVisible = true
        tick()
    }

    /// Takes it away while something else is printed or asked.
    func hide() {
        isVisible = false
        timer = nil
        line.clear()
    }

    /// Takes it away for good.
    func stop() {
        hide()
        end = nil
    }

    /// `2:05`; rounded up, so that it begins with the whole time and ends with 0:00.
    static func text(_ left: Duration) -> String {
        let seconds = Self.seconds(left)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }

    /// Whole seconds, rounded up.
    static func seconds(_ time: Duration) -> Int64 {
        let (whole, fraction) = time.components
        return max(0, fraction > 0 ? whole + 1 : whole)
    }

    private func tick() {
        guard isVisible, let end else { return }
        let left = context.loop.now.duration(to: end)
        line.show("\(Self.text(left)) left; on the new device run: handoffctl join")
        guard left > .zero else { return }
        // Aimed at the next whole second, so that it does not drift.
        let (_, fraction) = left.components
        let next = Duration(secondsComponent: fraction > 0 ? 0 : 1, attosecondsComponent: fraction)
        timer = context.loop.timer(after: next) { [weak self] in self?.tick() }
    }
}
