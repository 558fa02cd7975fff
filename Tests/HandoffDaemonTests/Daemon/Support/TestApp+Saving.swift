import HandoffControl
import HandoffModel
import Testing

extension TestApp {
    /// Engages in a note that its owner will be asked to save when it is continued; what is known so far is saved.
    func engageInUnsaved(_ text: String) throws -> ActivityID {
        let id = try engage(Note.activity(text, needsSave: true))
        _ = try save()
        try call(.answerSave, id, change: Note.change(text))
        guard case .saved(id) = try next() else { throw UnexpectedEvent() }
        try call(.update, id, change: Note.unsaved)
        return id
    }
}
