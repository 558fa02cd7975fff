import HandoffControl
import HandoffJSON
import HandoffModel

/// Decides which calls to the daemon announce the page in front. Plain values: an event in, actions
/// out.
///
/// A new address is a new activity; a new title is an update. Only one call is in progress at a
/// time, and changes in the meantime are combined. A page that constantly changes its title or
/// address is limited by the daemon's replies. Driven by `BrowserHost` in the process that a
/// browser has started. *Wanted* is the page in front, unless the rules exclude it.
///
/// ```
///       wanted / Publish                published / BecomeCurrent, Invalidate the one before
/// none ─────────────────► publishing ────────────────────────────► offered ──┐ another title
///  ▲                       ▲  │  ▲                                  │ │  ▲    │ / Update
///  │         another page  │  │  └──── another address / Publish ───┘ │  └────┘
///  │         / Publish     │  ▼ refused                               │
///  │                    refused, withdrawn ◄──── withdrawn ───────────┘
///  └── every state: none wanted / Invalidate
/// ```
///
/// - `publishing`: a change of the page is kept until the reply. Then the machine compares the page
///   that is wanted by now. If the daemon refuses the page, the one before is invalidated.
/// - `offered`: only one `Update` is in progress. After its reply, another one follows if the title
///   has changed again.
/// - `refused` lasts until another page is in front; a new title alone does not make it another
///   page. `withdrawn`, which the daemon causes when the reader was away for long, is like
///   `refused`, but the page is also published again when it is moved or the user returns to its
///   window. The extension reports the next move.
/// - `save` while a page is offered becomes a request to the extension, and its reply is forwarded.
///   In other states it is answered without a change.
/// - A move is an `Update` with `needsSave`, once after each `save`. A position that is reported
///   during playback sets `needsSave` immediately, because it changes continuously.
/// - A return to the window of the offered page is `BecomeCurrent`. If the page is continued on
///   another device, the extension stops media playback in it.
/// - After `lost` nothing is sent until `attached`. Then the state is `none`, and the extension is
///   queried for the page in front.
struct FrontPageMachine: Sendable {
    /// An action for the driver.
    enum Action: Equatable, Sendable {
        /// `Publish`; `published` or `refused` receives the reply.
        case publish(FrontPage)
        /// `BecomeCurrent`.
        case becomeCurrent(ActivityID)
        /// `Update`; `updated` receives the reply.
        case update(ActivityID, ActivityChange)
        /// `Invalidate`.
        case invalidate(ActivityID)
        /// `AnswerSave`.
        case answer(ActivityID, ActivityChange?)
        /// Sends a message to the extension.
        case send(HostMessage)
    }

    private enum Offer: Equatable {
        /// Nothing is offered.
        case none
        /// Waiting for the daemon's reply; the previous activity remains until then.
        case publishing(FrontPage, before: ActivityID?)
        /// The page is offered.
        case offered(ActivityID, FrontPage)
        /// The daemon has refused the page. Lasts until another page is in front.
        case refused(FrontPage)
        /// The daemon has ended the activity because its reader was away for long. Lasts until they
        /// move or return, or another page is in front.
        case withdrawn(FrontPage)
    }

    private var rules = PageRules()
    private var isAttached = false
    /// The page in front, even if it may not be offered.
    private var front: FrontPage?
    private var offer = Offer.none
    private var isUpdating = false
    /// True if the daemon must request the position before it hands over the page.
    private var needsSave = true
    /// The activity whose position was requested from the extension, and the number of that
    /// request.
    private var pendingSave: (request: Int, activity: ActivityID)?
    private var lastRequest = 0

    init() {}

    /// The page in front, if it may be offered.
    private var wanted: FrontPage? { front.flatMap { rules.allows($0) ? $0 : nil } }

    /// Sets the rules for the pages that may be offered.
    mutating func setRules(_ rules: PageRules) -> [Action] {
        guard rules != self.rules else { return [] }
        self.rules = rules
        return settle()
    }

    /// The daemon is connected and has none of this browser's activities.
    mutating func attached() -> [Action] {
        reset()
        isAttached = true
        // The extension replies with the page; the previous one may be outdated.
        front = nil
        return [.send(.ready)]
    }

    /// The connection to the daemon was lost, and this browser's activities with it.
    mutating func lost(_ why: String) -> [Action] {
        reset()
        isAttached = false
        return [.send(.offered(false)), .send(.lost(why))]
    }

    private mutating func reset() {
        offer = .none
        isUpdating = false
        pendingSave = nil
    }

    /// Handles a change of the page in front or of its title.
    mutating func front(_ page: FrontPage?) -> [Action] {
        front = page
        return settle()
    }

    /// Handles scrolling of the page.
    mutating func moved() -> [Action] {
        if case .withdrawn = offer { return returned() }
        guard case .offered(let id, _) = offer, !needsSave else { return [] }
        needsSave = true
        var change = ActivityChange()
        change.needsSave = true
        return [.update(id, change)]
    }

    /// Handles the user's return to the page's window from another program.
    mutating func returned() -> [Action] {
        switch offer {
        case .none, .publishing, .refused: return []
        case .offered(let id, _): return [.becomeCurrent(id)]
        case .withdrawn:
            offer = .none
            return settle()
        }
    }

    /// Handles the continuation of an activity on another device.
    func continued(_ id: ActivityID) -> [Action] {
        guard case .offered(id, let page) = offer else { return [] }
        return [.send(.continued(url: page.url))]
    }

    /// Handles the reply to `publish`.
    mutating func published(_ id: ActivityID) -> [Action] {
        guard case .publishing(let page, let before) = offer else { return [] }
        offer = .offered(id, page)
        needsSave = true
        let actions: [Action] = [.becomeCurrent(id)] + (before.map { [.invalidate($0)] } ?? [])
        return actions + [.send(.offered(true))] + settle()
    }

    /// Handles the refusal of `publish`.
    mutating func refused() -> [Action] {
        guard case .publishing(let page, let before) = offer else { return [] }
        offer = .refused(page)
        return (before.map { [.invalidate($0)] } ?? []) + [.send(.offered(false))] + settle()
    }

    /// Handles the reply to `update`, whether or not it succeeded.
    mutating func updated() -> [Action] {
        isUpdating = false
        return settle()
    }

    /// Handles the end of an activity by the daemon.
    mutating func withdrawn(_ id: ActivityID) -> [Action] {
        guard case .offered(id, let page) = offer else { return [] }
        offer = .withdrawn(page)
        return [.send(.offered(false)), .send(.watch(url: page.url))]
    }

    /// Handles the daemon's request for the position.
    mutating func save(_ id: ActivityID) -> [Action] {
        guard case .offered(id, let page) = offer else { return [.answer(id, nil)] }
        needsSave = false
        lastRequest += 1
        pendingSave = (lastRequest, id)
        return [.send(.save(request: lastRequest, url: page.url))]
    }

    /// Handles the extension's reply.
    mutating func place(_ place: PagePlace?, request: Int) -> [Action] {
        guard let pending = pendingSave, pending.request == request else { return [] }
        pendingSave = nil
        guard let place else { return [.answer(pending.activity, nil)] }
        var change = ActivityChange()
        change.userInfo = [PagePlace.key: .object(place.json)]
        // The position will have changed by the next request.
        if place.media?.isPlaying == true {
            change.needsSave = true
            needsSave = true
        }
        return [.answer(pending.activity, change)]
    }

    /// Starts the next action towards the wanted offer.
    private mutating func settle() -> [Action] {
        guard isAttached else { return [] }
        switch (offer, wanted) {
        case (.publishing, _), (.none, nil): return []
        case (.refused, nil), (.withdrawn, nil):
            offer = .none
            return []
        case (.offered(let id, _), nil):
            offer = .none
            return [.invalidate(id), .send(.offered(false))]
        case (.refused(let page), let wanted?):
            return page == wanted ? [] : publish(wanted, before: nil)
        case (.withdrawn(let page), let wanted?):
            // A title that changes by itself is not a return of the reader.
            return page.url == wanted.url ? [] : publish(wanted, before: nil)
        case (.none, let wanted?):
            return publish(wanted, before: nil)
        case (.offered(let id, let page), let wanted?):
            if page.url != wanted.url { return publish(wanted, before: id) }
            guard page.title != wanted.title, !isUpdating else { return [] }
            offer = .offered(id, wanted)
            isUpdating = true
            var change = ActivityChange()
            change.title = wanted.title
            return [.update(id, change)]
        }
    }

    private mutating func publish(_ page: FrontPage, before: ActivityID?) -> [Action] {
        offer = .publishing(page, before: before)
        isUpdating = false
        return [.publish(page)]
    }
}
