extension NSUserActivity {
    /// Takes activities out of the stores of the system. There are none on Linux, so it is done at once.
    /// - Parameters:
    ///   - persistentIdentifiers: which ones.
    ///   - handler: called before this returns.
    public static func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier],
        completionHandler handler: @escaping @Sendable () -> Void
    ) {
        handler()
    }

    /// Takes activities out of the stores of the system. There are none on Linux, so it is done at once.
    public static func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier]
    ) async {}

    /// Takes all activities of the app out of the stores of the system. There are none on Linux, so it is done at once.
    /// - Parameter handler: called before this returns.
    public static func deleteAllSavedUserActivities(completionHandler handler: @escaping @Sendable () -> Void) {
        handler()
    }

    /// Takes all activities of the app out of the stores of the system. There are none on Linux, so it is done at once.
    public static func deleteAllSavedUserActivities() async {}
}
