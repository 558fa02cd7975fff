import CMainQueue
// The queue is libdispatch's, which a program has by this import.
import Dispatch

/// Dispatch's main queue in the main loop of GLib, which apps with GTK run. Without it that loop runs nothing of the main queue or the main actor.
///
/// ```swift
/// GLibMainQueue.attach()
/// g_application_run(application, 0, nil)
/// ```
@MainActor
public enum GLibMainQueue {
    private static var isAttached = false

    /// Has GLib's default main context run the main queue, and with it the main actor, on the main thread. Call it there before the loop runs; a second
    /// call does nothing. Ends the process where `libglib-2.0.so.0` cannot be loaded.
    ///
    /// What waits for `RunLoop.main`, such as a `Timer`, still waits: GLib's loop runs the queue, and no run loop.
    public static func attach() {
        dispatchPrecondition(condition: .onQueue(.main))
        guard !isAttached else { return }
        isAttached = true
        guard cmainqueue_add_to_glib() == 0 else { fatalError("HandoffGLib: libglib-2.0.so.0 cannot be loaded") }
    }
}
