package import HandoffControl
import HandoffJSON
package import HandoffModel

// The methods of `dev.handoff1` that the commands need, one function each.
extension ControlClient {
    /// The ID of a published activity, and advice for its developer.
    package typealias PublishedReply = (id: ActivityID, advice: String?)

    /// Calls `Attach`: reports `attached` first, then every event for the app. A failure is the
    /// last report.
    func attach(_ app: AttachRequest, _ each: @escaping (Result<AppEvent, ClientError>) -> Void) {
        followIndefinitely(AppMethod.attach.rawValue, app.json, each)
    }

    /// Calls `Declare` with the types that the app continues from now on.
    package func declare(_ request: DeclareRequest, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        self.request(AppMethod.declare.rawValue, request.json, then)
    }

    /// Calls `Publish` in a session. Returns the activity's ID, and advice for the developer.
    func publish(
        session: String, activity: ActivityDescription, _ then: @escaping (Result<PublishedReply, ClientError>) -> Void
    ) {
        let parameters: JSONObject = ["session": .string(session), "activity": .object(activity.json)]
        request(
            AppMethod.publish.rawValue, parameters,
            decode: { reply throws(VarlinkError) in
                guard case .published(let id, let advice) = try AppEvent(json: reply) else {
                    throw .invalidParameter("event.event")
                }
                return (id, advice)
            }, then)
    }

    /// Calls `Update`. Returns advice for the developer, if any.
    package func update(
        session: String, activity: ActivityID, change: ActivityChange,
        _ then: @escaping (Result<String?, ClientError>) -> Void
    ) {
        var parameters = Self.names(session, activity)
        parameters["change"] = .object(change.json)
        request(AppMethod.update.rawValue, parameters, decode: { $0["advice"]?.string }, then)
    }

    /// Calls `BecomeCurrent`: the activity is offered from now on.
    package func becomeCurrent(
        session: String, activity: ActivityID, _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        request(AppMethod.becomeCurrent.rawValue, Self.names(session, activity), then)
    }

    /// Calls `Invalidate`: the activity ends permanently. Its open streams are kept, because the
    /// app ends them separately.
    package func invalidate(
        session: String, activity: ActivityID, _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        var parameters = Self.names(session, activity)
        parameters["keepStreams"] = true
        request(AppMethod.invalidate.rawValue, parameters, then)
    }

    /// Calls `AnswerSave` with the changes since the last one. Returns advice for the developer, if
    /// any.
    package func answerSave(
        session: String, activity: ActivityID, change: ActivityChange?,
        _ then: @escaping (Result<String?, ClientError>) -> Void
    ) {
        var parameters = Self.names(session, activity)
        if let change { parameters["change"] = .object(change.json) }
        request(AppMethod.answerSave.rawValue, parameters, decode: { $0["advice"]?.string }, then)
    }

    /// Calls `AnswerContinue` to report whether the app has handled the activity.
    ///
    /// - Parameter failure: why it has not, for display.
    package func answerContinue(
        session: String, continuation: ContinuationID, handled: Bool, failure: String? = nil,
        _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        var parameters: JSONObject = [
            "session": .string(session), "continuation": .string(continuation.hex), "handled": .bool(handled),
        ]
        parameters["failure"] = failure.map { .string($0) }
        request(AppMethod.answerContinue.rawValue, parameters, then)
    }

    /// Calls `ReportReceived` with the result for a file that the app has received.
    package func reportReceived(
        session: String, activity: ActivityID, from device: DeviceID, _ end: ReceivedEnd,
        _ then: @escaping (Result<Void, ClientError>) -> Void
    ) {
        let report = ReportReceivedRequest(session: session, device: device, activity: activity, end)
        request(AppMethod.reportReceived.rawValue, report.json, then)
    }

    /// Calls `ReportProgress` for a file that the app receives.
    package func reportProgress(
        _ progress: ReportProgressRequest, _ then: @escaping (Result<ReportProgressReply, ClientError>) -> Void
    ) {
        request(AppMethod.reportProgress.rawValue, progress.json, then)
    }

    /// Calls `KeepContent` with a part of the file in the copies of an activity.
    package func keepContent(_ request: KeepContentRequest, _ then: @escaping (Result<Void, ClientError>) -> Void) {
        self.request(AppMethod.keepContent.rawValue, request.json, then)
    }

    /// Calls `ReadContent` for the file in a copy that was continued here.
    package func readContent(
        _ request: ReadContentRequest, _ then: @escaping (Result<ReadContentReply, ClientError>) -> Void
    ) {
        self.request(AppMethod.readContent.rawValue, request.json, then)
    }

    private static func names(_ session: String, _ activity: ActivityID) -> JSONObject {
        ["session": .string(session), "activity": .string(activity.hex)]
    }
}
