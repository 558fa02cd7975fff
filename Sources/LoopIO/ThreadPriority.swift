import Glibc

/// A thread's share of processor time.
package enum ThreadPriority {
    /// The niceness (nice(2), -20 … 19; a higher value means less processor time) of threads that
    /// transfer bulk data. They yield to threads that users wait for, and get a quarter of a
    /// processor that both compete for.
    package static let bulk: Int32 = 5

    /// Lowers the calling thread's priority permanently: raising it again needs a privilege. Does
    /// nothing if the priority is already that low, or if the system forbids it, because the
    /// priority is only an optimisation.
    package static func lower(to niceness: Int32) {
        guard niceness > 0 else { return }
        // On Linux the niceness is per thread, and 0 means the calling thread (setpriority(2)).
        let thread = __priority_which_t(PRIO_PROCESS.rawValue)
        guard getpriority(thread, 0) < niceness else { return }
        _ = setpriority(thread, 0, niceness)
    }
}
