import CMainQueue
// Imported so that programs link libdispatch, which owns the queue.
import Dispatch

/// Services dispatch's main queue in GLib's main loop, which apps with GTK run. Without it, that
/// loop runs neither the main queue nor the main actor.
///
/// ```swift
/// GLibMainQueue.attach()
/// g_application_run(application, 0, nil)
/// ```
@MainActor
public enum GLibMainQueue {
    private static var isAttached = false

    /// Adds the main queue, and with it the main actor, to GLib's default main context on the main
    /// thread. Call it on the main thread before the loop runs; a second call does nothing. Ends
    /// the process if `libglib-2.0.so.0` cannot be loaded.
    ///
    /// Work scheduled on `RunLoop.main`, such as a `Timer`, still does not run: GLib's loop
    /// services the queue, not a run loop.
    public static func attach() {
        dispatchPrecondition(condition: .onQueue(.main))
        guard !isAttached else { return }
        isAttached = true
        guard cmainqueue_add_to_glib() == 0 else { fatalError("HandoffGLib: libglib-2.0.so.0 cannot be loaded") }
    }
}
