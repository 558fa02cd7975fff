import HandoffControl
import HandoffModel

/// What the machine knows of one activity: what the app is asked, what the daemon was told, and what is still to be told.
extension ActivityMachine {
    /// Whether the app is being asked to bring an activity up to date.
    enum Save: Equatable {
        /// The state while the app is not asked.
        case idle
        /// The state until the callback queue gets to it.
        case scheduled(daemonWaits: Bool)
        /// The state while the app's methods run.
        case running(daemonWaits: Bool)
    }

    /// What the daemon knows of an activity.
    struct Told: Equatable {
        var description: ActivityDescription
        /// All that the activity said then, including what waits for a save.
        var wanted: ActivityDescription
        var needsSave: Bool
        var isCurrent = false
    }

    /// What the daemon has of an activity.
    enum Remote: Equatable {
        /// The state while the daemon does not know the activity.
        case unknown
        /// The state while `Publish` is answered.
        case publishing(Told)
        /// The state once the daemon has it.
        case published(ActivityID, Told)
        /// The state between the refusal of a change and `Invalidate`: what the daemon has is not what the activity says any more.
        case withdrawing(ActivityID, refused: ActivityDescription)
        /// The state after the daemon refused this description.
        case refused(ActivityDescription)

        /// The id in the daemon, once it has one.
        var id: ActivityID? {
            switch self {
            case .published(let id, _), .withdrawing(let id, _): id
            case .unknown, .publishing, .refused: nil
            }
        }

        /// Whether the answer to a call is about what the daemon has now; not so when it ended the activity meanwhile.
        func isAbout(_ call: Call) -> Bool {
            switch call {
            case .publish, .invalidate: true
            case .update(let id, _), .becomeCurrent(let id), .resignCurrent(let id), .answerSave(let id, _):
                id == self.id
            }
        }
    }

    /// What is known of an activity.
    struct Entry {
        var save = Save.idle
        var remote = Remote.unknown
        /// Whether `sync` was asked for and not yet done.
        var isSyncDue = false
        /// Whether a call is on its way.
        var isBusy = false
        /// What the daemon knows once that call is answered well.
        var pending: Told?
        /// Whether the daemon waits for the answer to its save request, and the app has saved.
        var owesAnswer = false
        /// Whether the app has saved, so that `userInfo` may travel.
        var hasSaved = false
        /// Whether the activity has ended for good.
        var hasEnded = false

        /// Whether the daemon has something to ask for, given whether the activity has news.
        func hasNews(needsSave: Bool) -> Bool {
            switch save {
            case .idle, .running: needsSave
            // News for which it asks already are none.
            case .scheduled(let daemonWaits): !daemonWaits
            }
        }
    }
}
