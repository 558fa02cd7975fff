extension NSUserActivity {
    /// Deletes activities from the system's stores. There are none on Linux, so it returns
    /// immediately.
    /// - Parameters:
    ///   - persistentIdentifiers: the activities to delete.
    ///   - handler: called before this returns.
    public static func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier],
        completionHandler handler: @escaping @Sendable () -> Void
    ) {
        handler()
    }

    /// Deletes activities from the system's stores. There are none on Linux, so it returns
    /// immediately.
    public static func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier]
    ) async {}

    /// Deletes all activities of the app from the system's stores. There are none on Linux, so it
    /// returns immediately.
    /// - Parameter handler: called before this returns.
    public static func deleteAllSavedUserActivities(completionHandler handler: @escaping @Sendable () -> Void) {
        handler()
    }

    /// Deletes all activities of the app from the system's stores. There are none on Linux, so it
    /// returns immediately.
    public static func deleteAllSavedUserActivities() async {}
}
