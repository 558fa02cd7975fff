package import HandoffControl
import HandoffJSON
package import HandoffModel

/// Decides what the daemon is told of the page in front. Plain values: an event in, actions out.
///
/// A new address is a new activity, a new title is none. One call is under way at a time, and what changes meanwhile comes
/// together: a page that changes its title or address without end costs no more than the daemon's answers.
///
/// Diagram: `docs/state-machines/front-page.md`.
package struct FrontPageMachine: Sendable {
    /// What the driver is to do.
    package enum Action: Equatable, Sendable {
        /// `Publish`; `published` or `refused` takes the answer.
        case publish(FrontPage)
        /// `BecomeCurrent`.
        case becomeCurrent(ActivityID)
        /// `Update`; `updated` takes the answer.
        case update(ActivityID, ActivityChange)
        /// `Invalidate`.
        case invalidate(ActivityID)
        /// `AnswerSave`.
        case answer(ActivityID, ActivityChange?)
        /// Tell the extension.
        case tell(HostMessage)
    }

    private enum Offer: Equatable {
        /// The state while nothing is on offer.
        case none
        /// The state until the daemon has answered; the activity before stays until then.
        case publishing(FrontPage, before: ActivityID?)
        /// The state while the page is on offer.
        case offered(ActivityID, FrontPage)
        /// The state after the daemon has refused the page: until there is another one.
        case refused(FrontPage)
        /// The state after the daemon has ended the activity, since its reader was away for long: until he moves or returns, or there
        /// is another page.
        case withdrawn(FrontPage)
    }

    private var rules = PageRules()
    private var isAttached = false
    /// The page in front, whether it may be offered or not.
    private var front: FrontPage?
    private var offer = Offer.none
    private var isUpdating = false
    /// Whether the daemon asks for the place before it hands the page over.
    private var needsSave = true
    /// The activity whose place the extension was asked for, and the number of that question.
    private var asked: (request: Int, activity: ActivityID)?
    private var lastRequest = 0

    package init() {}

    /// The page in front, if it may be offered.
    private var wanted: FrontPage? { front.flatMap { rules.allows($0) ? $0 : nil } }

    /// Other pages are offered from now on than before.
    package mutating func setRules(_ rules: PageRules) -> [Action] {
        guard rules != self.rules else { return [] }
        self.rules = rules
        return settle()
    }

    /// The daemon knows us, and none of our activities.
    package mutating func attached() -> [Action] {
        forget()
        isAttached = true
        // Its answer is the page; what was in front before may be gone.
        front = nil
        return [.tell(.ready)]
    }

    /// The daemon went away, and our activities with it.
    package mutating func lost(_ why: String) -> [Action] {
        forget()
        isAttached = false
        return [.tell(.offered(false)), .tell(.lost(why))]
    }

    private mutating func forget() {
        offer = .none
        isUpdating = false
        asked = nil
    }

    /// Another page is in front, or none, or its title has changed.
    package mutating func front(_ page: FrontPage?) -> [Action] {
        front = page
        return settle()
    }

    /// The page was scrolled.
    package mutating func moved() -> [Action] {
        if case .withdrawn = offer { return returned() }
        guard case .offered(let id, _) = offer, !needsSave else { return [] }
        needsSave = true
        var change = ActivityChange()
        change.needsSave = true
        return [.update(id, change)]
    }

    /// The user has returned to the window with the page, from another program.
    package mutating func returned() -> [Action] {
        switch offer {
        case .none, .publishing, .refused: return []
        case .offered(let id, _): return [.becomeCurrent(id)]
        case .withdrawn:
            offer = .none
            return settle()
        }
    }

    /// Another device has continued an activity.
    package func continued(_ id: ActivityID) -> [Action] {
        guard case .offered(id, let page) = offer else { return [] }
        return [.tell(.continued(url: page.url))]
    }

    /// The answer to `publish`.
    package mutating func published(_ id: ActivityID) -> [Action] {
        guard case .publishing(let page, let before) = offer else { return [] }
        offer = .offered(id, page)
        needsSave = true
        let actions: [Action] = [.becomeCurrent(id)] + (before.map { [.invalidate($0)] } ?? [])
        return actions + [.tell(.offered(true))] + settle()
    }

    /// The daemon did not take the page.
    package mutating func refused() -> [Action] {
        guard case .publishing(let page, let before) = offer else { return [] }
        offer = .refused(page)
        return (before.map { [.invalidate($0)] } ?? []) + [.tell(.offered(false))] + settle()
    }

    /// The answer to `update`, whatever it was.
    package mutating func updated() -> [Action] {
        isUpdating = false
        return settle()
    }

    /// The daemon has ended an activity.
    package mutating func withdrawn(_ id: ActivityID) -> [Action] {
        guard case .offered(id, let page) = offer else { return [] }
        offer = .withdrawn(page)
        return [.tell(.offered(false)), .tell(.watch(url: page.url))]
    }

    /// The daemon asks for the place.
    package mutating func save(_ id: ActivityID) -> [Action] {
        guard case .offered(id, let page) = offer else { return [.answer(id, nil)] }
        needsSave = false
        lastRequest += 1
        asked = (lastRequest, id)
        return [.tell(.save(request: lastRequest, url: page.url))]
    }

    /// The extension has answered.
    package mutating func place(_ place: PagePlace?, request: Int) -> [Action] {
        guard let asked, asked.request == request else { return [] }
        self.asked = nil
        guard let place else { return [.answer(asked.activity, nil)] }
        var change = ActivityChange()
        change.userInfo = [PagePlace.key: .object(place.json)]
        // It is elsewhere by the time somebody asks again.
        if place.media?.isPlaying == true {
            change.needsSave = true
            needsSave = true
        }
        return [.answer(asked.activity, change)]
    }

    /// Brings what is on offer nearer to what is wanted.
    private mutating func settle() -> [Action] {
        guard isAttached else { return [] }
        switch (offer, wanted) {
        case (.publishing, _), (.none, nil): return []
        case (.refused, nil), (.withdrawn, nil):
            offer = .none
            return []
        case (.offered(let id, _), nil):
            offer = .none
            return [.invalidate(id), .tell(.offered(false))]
        case (.refused(let page), let wanted?):
            return page == wanted ? [] : publish(wanted, before: nil)
        case (.withdrawn(let page), let wanted?):
            // A title that changes by itself is no return.
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
