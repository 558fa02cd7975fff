package import HandoffModel

/// The parameters of `ReportProgress`.
package struct ReportProgressRequest: ControlRequest {
    /// The session of the app.
    package var session: String
    /// The device that offered the activity.
    package var device: DeviceID
    /// The activity.
    package var activity: ActivityID
    /// The number of bytes that exist here.
    package var received: Int64
    /// The total number of bytes; nil if unknown.
    package var size: Int64?

    package init(session: String, device: DeviceID, activity: ActivityID, received: Int64, size: Int64?) {
        self.session = session
        self.device = device
        self.activity = activity
        self.received = received
        self.size = size
    }

    /// Checks that no number is negative.
    package func check() throws(VarlinkError) {
        guard received >= 0 else { throw .invalidParameter("received") }
        guard size ?? 0 >= 0 else { throw .invalidParameter("size") }
    }
}

/// The reply to `ReportProgress`.
package struct ReportProgressReply: ControlValue, Equatable {
    /// True if the user has cancelled it.
    package var cancelled: Bool
    /// The maximum size in bytes if no user has accepted the item; nil if a user has.
    package var limit: Int64?

    package init(cancelled: Bool = false, limit: Int64? = nil) {
        self.cancelled = cancelled
        self.limit = limit
    }
}
