package import HandoffModel

/// The result of a file or folder that an app has received.
package enum ReceivedEnd: Equatable, Sendable {
    /// It is complete and saved at this absolute path.
    case saved(String)
    /// It is not saved; the reason is a lower-case fragment.
    case failed(String)
}

/// The parameters of `ReportReceived`.
package struct ReportReceivedRequest: ControlRequest {
    /// Maximum length of the path and of the reason, in bytes.
    package static let maxText = 4096

    /// The session of the app.
    package var session: String
    /// The device that offered the activity.
    package var device: DeviceID
    /// The activity.
    package var activity: ActivityID
    /// The path where it is saved: absolute, without NUL.
    package var path: String?
    /// Why it is not saved.
    var failure: String?

    package init(session: String, device: DeviceID, activity: ActivityID, _ end: ReceivedEnd) {
        self.session = session
        self.device = device
        self.activity = activity
        switch end {
        case .saved(let path): self.path = path
        case .failed(let reason): failure = reason
        }
    }

    /// The reported result, or nil unless exactly one field is set.
    package var end: ReceivedEnd? {
        switch (path, failure) {
        case (let path?, nil): .saved(path)
        case (nil, let failure?): .failed(failure)
        case (nil, nil), (_?, _?): nil
        }
    }

    /// Checks that there is exactly one result and that the path is valid.
    package func check() throws(VarlinkError) {
        guard end != nil else { throw .invalidParameter("path") }
        if let path {
            guard path.hasPrefix("/"), path.utf8.count <= Self.maxText, !path.utf8.contains(0) else {
                throw .invalidParameter("path")
            }
        }
        guard failure?.utf8.count ?? 0 <= Self.maxText else { throw .invalidParameter("failure") }
    }
}
