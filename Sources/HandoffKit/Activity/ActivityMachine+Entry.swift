import HandoffControl
import HandoffModel

/// The state that the machine keeps for each activity.
extension ActivityMachine {
    /// The progress of a save request to the app.
    enum Save: Equatable {
        case idle
        /// A save is queued on the callback queue.
        case scheduled(daemonWaits: Bool)
        /// The app's methods are running.
        case running(daemonWaits: Bool)
    }

    /// The state of an activity as last sent to the daemon.
    struct SentState: Equatable {
        var description: ActivityDescription
        /// The activity's full state at that time, including changes that wait for a save.
        var wanted: ActivityDescription
        var needsSave: Bool
        var isCurrent = false
    }

    /// The state of the activity in the daemon.
    enum Remote: Equatable {
        /// The daemon does not know the activity.
        case unknown
        case publishing(SentState)
        case published(ActivityID, SentState)
        /// A change was refused and `Invalidate` has not been answered. The daemon's state no
        /// longer matches the activity.
        case withdrawing(ActivityID, refused: ActivityDescription)
        /// The daemon refused this description.
        case refused(ActivityDescription)

        /// The ID in the daemon; nil until it is assigned.
        var id: ActivityID? {
            switch self {
            case .published(let id, _), .withdrawing(let id, _): id
            case .unknown, .publishing, .refused: nil
            }
        }

        /// Returns whether the reply to a call applies to the daemon's current state. False if the
        /// daemon ended the activity in between.
        func isAbout(_ call: Call) -> Bool {
            switch call {
            case .publish, .invalidate: true
            case .update(let id, _), .becomeCurrent(let id), .resignCurrent(let id), .answerSave(let id, _):
                id == self.id
            }
        }
    }

    /// One activity: a state for saving in the app, and one for the daemon.
    ///
    /// ```
    /// save      becomeCurrent, or `save` of the daemon    the callback queue runs it
    ///      idle ─────────────────────────────► scheduled ──────────────────► running
    ///       ▲                                                                   │
    ///       └───────────────────────────────────────────────────────────────────┘
    ///          the app's methods have returned / sync, with AnswerSave if the daemon waits
    ///
    /// remote          current, attached / Publish          published
    ///   unknown ────────────────────────────► publishing ───────────► published ──┐ difference
    ///    ▲   ▲                                    │ refused             │ │  ▲    │ / Update,
    ///    │   │                                    ▼                     │ │  └────┘ AnswerSave,
    ///    │   └───── the activity changes ────── refused                 │ │         BecomeCurrent,
    ///    │                                        ▲                     │ │ refused ResignCurrent
    ///    │                                        │                     │ ▼
    ///    │                                        └───────────────── withdrawing
    ///    │ detached, withdrawn, ended             / Invalidate          │
    ///    └─── / Invalidate ─────────────────────────────────────────────┘
    /// ```
    ///
    /// - There is one call at a time for each activity. Changes during a call are combined into one
    ///   call afterwards.
    /// - `userInfo` is sent only with `Publish` and after a save. All other values are sent when
    ///   they change. `isEligibleForHandoff` is sent separately, so that hiding an activity cannot
    ///   be refused because of another field.
    /// - `save` without pending changes is answered without the app. A save that the app performs
    ///   anyway, because the activity became current, also answers the daemon's request.
    /// - An activity that is replaced by another one is not resigned. The daemon does that when the
    ///   other one becomes current, without a gap. If the other one is refused, the first one is
    ///   resigned.
    /// - After the daemon has refused a change, the activity is withdrawn: the former state is not
    ///   offered under a new title. The refusal is reported, and the next change publishes the
    ///   whole activity again. A change that the daemon would refuse is not sent: a message that is
    ///   too large or too deep would end the connection.
    /// - When the daemon goes offline, all activities are `unknown`. When it is back, the current
    ///   one is published.
    /// - An expired activity is no longer current, unless the app has changed its `expirationDate`
    ///   in the meantime: then it is published again. Replies to calls for withdrawn activities are
    ///   ignored.
    struct Entry {
        var save = Save.idle
        var remote = Remote.unknown
        /// True if a `sync` action has been returned and not yet performed.
        var isSyncDue = false
        var isBusy = false
        /// The daemon's state if that call succeeds.
        var pending: SentState?
        /// True if the app has saved and the daemon's save request is still unanswered.
        var owesAnswer = false
        /// True if the app has saved, so that `userInfo` may be sent.
        var hasSaved = false
        var hasEnded = false

        /// Returns whether the daemon should request a save, given whether the activity has unsaved
        /// changes.
        func hasUnsavedChanges(needsSave: Bool) -> Bool {
            switch save {
            case .idle, .running: needsSave
            // The daemon has already requested these changes.
            case .scheduled(let daemonWaits): !daemonWaits
            }
        }
    }
}
