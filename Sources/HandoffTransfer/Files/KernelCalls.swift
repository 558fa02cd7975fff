/// Which of the newer calls of the kernel are used where they are there. Only tests leave one out, to see what is done on
/// systems without it.
package struct KernelCalls: Sendable {
    /// renameat2(2) with RENAME_NOREPLACE; some file systems have none.
    package var renamesOnlyNew = true
    /// openat2(2); there since Linux 5.6, and unknown to some sandboxes.
    package var opensBeneath = true

    /// All of them.
    package init() {}
}
