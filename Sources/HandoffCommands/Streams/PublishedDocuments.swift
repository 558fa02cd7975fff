import HandoffDocuments
import HandoffJSON
import HandoffModel
import LoopIO

/// The files that the payload of a published activity names, and the URLs sent in their place.
struct PublishedDocuments {
    private var table = DocumentTable()
    private var reported: Set<String> = []
    /// True if the last payload names a file that other devices can fetch.
    private(set) var areOffered = false

    /// Returns the path of the document offered under a number; nil for an unknown number.
    func path(_ number: Int) -> String? { table.path(number) }

    /// Causes the files to be looked up again, because they may have changed.
    mutating func invalidate() { table.invalidate() }

    /// Returns the payload to publish. Looks up new files, which blocks while the file system does.
    mutating func outgoing(_ object: JSONObject, _ context: CommandContext) -> JSONObject {
        areOffered = false
        guard UserInfo.hasFileURL(.object(object)), let value = try? UserInfoValue(tagged: .object(object)) else {
            return object
        }
        let unknown = table.unknown(in: value)
        if !unknown.isEmpty {
            let roots = SharedRoots.configured { note($0, context) }
            var answers: [String: DocumentTable.Answer] = [:]
            for text in unknown {
                guard let file = FileURL(text) else { continue }
                let answer = DocumentTable.Answer(of: file, roots: roots)
                answers[text] = answer
                if answer.path == nil, answer.url.place == .nowhere {
                    let name = VisibleText.escape(answer.url.name)
                    note("cannot read the document \(name): other devices receive only its name", context)
                }
            }
            table.update(answers)
        }
        areOffered = table.offersAny(in: value)
        guard case .object(let outgoing) = table.outgoing(value).tagged() else { return object }
        return outgoing
    }

    private mutating func note(_ text: String, _ context: CommandContext) {
        if reported.insert(text).inserted { context.note(text) }
    }
}

extension SharedRoots {
    /// Returns the folders of `documents.conf`. Reads the files synchronously.
    /// - Parameter report: receives each invalid line.
    static func configured(_ report: (String) -> Void) -> SharedRoots {
        let (roots, problems) = DocumentsFile.read(environment: ProcessEnvironment.all)
        for problem in problems { report(problem.description) }
        return roots
    }
}
