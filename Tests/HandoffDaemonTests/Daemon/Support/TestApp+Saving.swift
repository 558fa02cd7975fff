import HandoffControl
import HandoffModel
import Testing

extension TestApp {
    /// Publishes a current note whose owner will be asked to save when it is continued. The current
    /// content is already saved.
    func engageInUnsaved(_ text: String) throws -> ActivityID {
        let id = try engage(Note.activity(text, needsSave: true))
        _ = try save()
        try call(.answerSave, id, change: Note.change(text))
        guard case .saved(id) = try next() else { throw UnexpectedEvent() }
        try call(.update, id, change: Note.unsaved)
        return id
    }
}
