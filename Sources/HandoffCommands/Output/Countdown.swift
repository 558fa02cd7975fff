import HandoffModel
import LoopIO

/// Counts down the remaining time of a pairing window on the last line of a terminal.
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

    /// Starts the countdown without showing it.
    func start(for time: Duration) {
        end = context.loop.now.advanced(by: time)
    }

    /// Shows the countdown and updates it once a second.
    func show() {
        guard line.isPossible, context.status == nil else { return }
        isVisible = true
        tick()
    }

    /// Hides the countdown while something else is printed or prompted for.
    func hide() {
        isVisible = false
        timer = nil
        line.clear()
    }

    /// Hides the countdown and ends it.
    func stop() {
        hide()
        end = nil
    }

    /// Formats `2:05`. Rounds up, so that the countdown starts with the full time and ends with
    /// 0:00.
    static func text(_ left: Duration) -> String {
        let seconds = Self.seconds(left)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }

    /// Returns whole seconds, rounded up.
    static func seconds(_ time: Duration) -> Int64 {
        let (whole, fraction) = time.components
        return max(0, fraction > 0 ? whole + 1 : whole)
    }

    private func tick() {
        guard isVisible, let end else { return }
        let left = context.loop.now.duration(to: end)
        line.show("\(Self.text(left)) left; on the new device run: handoffctl join")
        guard left > .zero else { return }
        // Schedule for the next whole second, so that the countdown does not drift.
        let (_, fraction) = left.components
        let next = Duration(secondsComponent: fraction > 0 ? 0 : 1, attosecondsComponent: fraction)
        timer = context.loop.timer(after: next) { [weak self] in self?.tick() }
    }
}
