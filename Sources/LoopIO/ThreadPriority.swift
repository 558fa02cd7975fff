import Glibc

/// How much processor time a thread gets beside others.
package enum ThreadPriority {
    /// The niceness (nice(2), -20 … 19, more is less) of threads that move bulk data: they give way to those that people
    /// wait for, and get a quarter of a processor that both want.
    package static let bulk: Int32 = 5

    /// Lowers the calling thread's priority for ever: raising it again needs a privilege. Does nothing when the priority is
    /// that low already, or when the system forbids it: everything works without it.
    static func lower(to niceness: Int32) {
        guard niceness > 0 else { return }
        // On Linux a niceness belongs to the thread, and 0 means the calling one (setpriority(2)).
        let thread = __priority_which_t(PRIO_PROCESS.rawValue)
        guard getpriority(thread, 0) < niceness else { return }
        _ = setpriority(thread, 0, niceness)
    }
}
