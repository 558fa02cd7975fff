package import HandoffHandlers
import HandoffModel
package import LoopIO

/// Reads what apps declare. Waits for disks: on a worker's thread, one call at a time.
package final class HandlerReader: Sendable {
    /// What was found.
    package struct Found: Sendable {
        /// The apps, and who is chosen; nobody is switched off in it.
        package var registry = HandlerRegistry()
        /// Files that cannot be used, each with what is wrong: `cannot use PATH: …`.
        package var problems: Set<String> = []
        /// The folders in which something may change, and what is of interest there.
        package var watched: [String: FolderWatch.Interest] = [:]
    }

    private struct Remembered {
        let version: PlainFile.Version
        let content: Content
    }

    /// What a file came to; programs that it asks for may come and go without it.
    private enum Content {
        case declares([UInt8])
        case nothing
    }

    private let places: HandlerPaths
    /// What files of which nothing has changed said before: most of a desktop's entries declare nothing.
    private let memory = Locked<[String: Remembered]>([:])

    package init(places: HandlerPaths) {
        self.places = places
    }

    /// Reads all folders.
    package func read() -> Found {
        var scan = Scan(places: places, former: memory.withLock { $0 })
        for folder in places.folders {
            switch folder.kind {
            case .desktopEntries: scan.desktopEntries(in: folder.path, prefix: "", depth: 0)
            case .manifests: scan.manifests(in: folder.path)
            }
        }
        var defaults = scan.defaults()
        defaults.append(scan.defaultBrowsers(), for: .browsingWeb)
        memory.withLock { $0 = scan.present }
        scan.found.registry = HandlerRegistry(
            handlers: scan.handlers, defaults: defaults, opensPages: PageOpener.find(in: places.programs) != nil)
        return scan.found
    }

    /// One reading of all folders.
    private struct Scan {
        let places: HandlerPaths
        let former: [String: Remembered]
        var present: [String: Remembered] = [:]
        var handlers: [Handler] = []
        var found = Found()
        /// Ids that an earlier folder has: the later ones do not count, whatever is in them.
        private var taken: Set<String> = []
        private var files = 0

        init(places: HandlerPaths, former: [String: Remembered]) {
            self.places = places
            self.former = former
        }

        mutating func desktopEntries(in folder: String, prefix: String, depth: Int) {
            for name in names(in: folder) {
                let path = "\(folder)/\(name)"
                if name.hasSuffix(".desktop") {
                    desktopEntry(path, id: prefix + name.dropLast(".desktop".count))
                } else if depth < HandlerLimits.depth, !name.contains("."), FolderListing.isFolder(path) {
                    desktopEntries(in: path, prefix: prefix + name + "-", depth: depth + 1)
                }
            }
        }

        mutating func manifests(in folder: String) {
            for name in names(in: folder) where name.hasSuffix(".json") && !name.hasPrefix(".") {
                let path = "\(folder)/\(name)"
                // Two manifests of one name are one app, as with desktop entries; their ids are looked at later.
                guard taken.insert("manifest " + name).inserted, let bytes = content(of: path) else { continue }
                let stem = String(name.dropLast(".json".count))
                let programs = places.programs
                take(path) { (installed) throws(HandlerFileError) in
                    try Handler.declared(
                        byManifest: bytes, stem: stem, path: path, installed: installed,
                        isThere: { programs.find($0) != nil })
                }
            }
        }

        mutating func defaults() -> HandlerDefaults {
            guard let path = places.defaults else { return HandlerDefaults() }
            let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
            watch(folder, [String(path[path.index(folder.endIndex, offsetBy: 1)...])])
            guard PlainFile.version(at: path) != nil else { return HandlerDefaults() }
            do throws(Errno) {
                let file = try PlainFile.read(path, limit: HandlerLimits.fileBytes)
                return HandlerDefaults(parsing: file.bytes) { found.problems.insert("cannot use \(path): \($0)") }
            } catch {
                found.problems.insert("cannot use \(path): \(error)")
                return HandlerDefaults()
            }
        }

        /// Pages of a browser go to the one that opens pages anyway, unless the user has chosen otherwise.
        mutating func defaultBrowsers() -> [AppID] {
            for path in places.browsers {
                let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
                watch(String(path.dropLast(name.count + 1)), [name])
                guard PlainFile.version(at: path) != nil,
                    let file = try? PlainFile.read(path, limit: HandlerLimits.fileBytes)
                else { continue }
                let apps = DefaultBrowser.apps(in: file.bytes)
                if !apps.isEmpty { return apps }
            }
            return []
        }

        private mutating func desktopEntry(_ path: String, id: String) {
            guard taken.insert(id).inserted, let bytes = content(of: path) else { return }
            let (locale, programs) = (places.locale, places.programs)
            take(path) { (installed) throws(HandlerFileError) in
                guard let id = AppID(id) else {
                    throw HandlerFileError(line: nil, "an app cannot have the id \(id)")
                }
                return try Handler.declared(
                    byDesktopEntry: bytes, id: id, path: path, installed: installed, locale: locale,
                    isThere: { programs.find($0) != nil })
            }
        }

        private mutating func take(
            _ path: String, _ read: (Int64) throws(HandlerFileError) -> HandlerDeclaration
        ) {
            do throws(HandlerFileError) {
                if case .handler(let handler) = try read(present[path]?.version.changed ?? 0) {
                    handlers.append(handler)
                }
            } catch {
                found.problems.insert("cannot use \(path): \(error)")
            }
        }

        /// The bytes of a file that declares something for Handoff; nil for all others.
        private mutating func content(of path: String) -> [UInt8]? {
            guard files < HandlerLimits.files else {
                found.problems.insert("more than \(HandlerLimits.files) files declare apps: the others are not read")
                return nil
            }
            files += 1
            guard let version = PlainFile.version(at: path) else { return nil }
            if let remembered = former[path], remembered.version == version {
                present[path] = remembered
            } else {
                do throws(Errno) {
                    let file = try PlainFile.read(path, limit: HandlerLimits.fileBytes)
                    let declares = path.hasSuffix(".json") || DesktopFile.mayDeclare(file.bytes)
                    present[path] = Remembered(
                        version: file.version, content: declares ? .declares(file.bytes) : .nothing)
                } catch {
                    // What cannot be read, or is too long, is not known to be ours.
                    if error != .fileTooLarge || path.hasSuffix(".json") {
                        found.problems.insert("cannot use \(path): \(error)")
                    }
                    return nil
                }
            }
            if case .declares(let bytes) = present[path]?.content { return bytes }
            return nil
        }

        /// The names in a folder, sorted; an absent one is watched for.
        private mutating func names(in folder: String) -> [String] {
            guard found.watched.count < HandlerLimits.files else { return [] }
            do throws(Errno) {
                let names = try FolderListing.names(in: folder, limit: HandlerLimits.names)
                found.watched[folder] = .anything
                return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            } catch {
                awaitFolder(folder)
                return []
            }
        }

        /// Watches the nearest folder above that exists for the next name on the way.
        private mutating func awaitFolder(_ path: String) {
            var rest = path[...]
            while let slash = rest.lastIndex(of: "/") {
                let name = String(rest[rest.index(after: slash)...])
                rest = rest[..<slash]
                let above = rest.isEmpty ? "/" : String(rest)
                if FolderListing.isFolder(above) { return watch(above, [name]) }
            }
        }

        private mutating func watch(_ folder: String, _ names: Set<String>) {
            guard FolderListing.isFolder(folder) else { return awaitFolder(folder) }
            switch found.watched[folder] {
            case .anything: break
            case .names(let others): found.watched[folder] = .names(others.union(names))
            case nil: found.watched[folder] = .names(names)
            }
        }
    }
}
