package import HandoffHandlers
import HandoffModel
package import LoopIO

/// Reads app declarations. Blocks on disk access: use a worker thread, one call at a time.
package final class HandlerReader: Sendable {
    /// The result of a reading.
    package struct Found: Sendable {
        /// The apps and the user's choices. No app is disabled in it.
        package var registry = HandlerRegistry()
        /// Unusable files, each with its error: `cannot use PATH: …`.
        package var problems: Set<String> = []
        /// The folders to watch, with the relevant names in each.
        package var watched: [String: FolderWatch.Interest] = [:]
    }

    private struct CachedFile {
        let version: PlainFile.Version
        let content: Content
    }

    /// The relevant content of a file. Its validity may change with the installed programs, without
    /// a change of the file.
    private enum Content {
        case declares([UInt8])
        case nothing
    }

    private let places: HandlerPaths
    /// The content of files, by path, until they change: most desktop entries declare nothing.
    private let cache = Locked<[String: CachedFile]>([:])

    package init(places: HandlerPaths) {
        self.places = places
    }

    /// Reads all folders.
    package func read() -> Found {
        var scan = Scan(places: places, former: cache.withLock { $0 })
        for folder in places.folders {
            switch folder.kind {
            case .desktopEntries: scan.desktopEntries(in: folder.path, prefix: "", depth: 0)
            case .manifests: scan.manifests(in: folder.path)
            }
        }
        var defaults = scan.defaults()
        defaults.append(scan.defaultBrowsers(), for: .browsingWeb)
        cache.withLock { $0 = scan.present }
        scan.found.registry = HandlerRegistry(
            handlers: scan.handlers, defaults: defaults, opensPages: PageOpener.find(in: places.programs) != nil)
        return scan.found
    }

    /// A reading of all folders.
    private struct Scan {
        let places: HandlerPaths
        let former: [String: CachedFile]
        var present: [String: CachedFile] = [:]
        var handlers: [Handler] = []
        var found = Found()
        /// The ids found in earlier folders. Later files with these ids are ignored, whatever their
        /// content.
        private var taken: Set<String> = []
        private var files = 0

        init(places: HandlerPaths, former: [String: CachedFile]) {
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
                // Manifests with the same name are the same app, as with desktop entries. Their ids
                // are checked later.
                guard taken.insert("manifest " + name).inserted, let bytes = content(of: path) else { continue }
                let stem = String(name.dropLast(".json".count))
                let programs = places.programs
                take(path) { (installed) throws(HandlerFileError) in
                    try Handler.declared(
                        byManifest: bytes, stem: stem, path: path, installed: installed,
                        exists: { programs.find($0) != nil })
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

        /// The default browser continues web pages, unless the user has chosen another app.
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
                    throw HandlerFileError(line: nil, "invalid app id \(id)")
                }
                return try Handler.declared(
                    byDesktopEntry: bytes, id: id, path: path, installed: installed, locale: locale,
                    exists: { programs.find($0) != nil })
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

        /// Returns the bytes of a file that declares something for Handoff; nil for all other
        /// files.
        private mutating func content(of path: String) -> [UInt8]? {
            guard files < HandlerLimits.files else {
                found.problems.insert("more than \(HandlerLimits.files) app files; the rest are not read")
                return nil
            }
            files += 1
            guard let version = PlainFile.version(at: path) else { return nil }
            if let cached = former[path], cached.version == version {
                present[path] = cached
            } else {
                do throws(Errno) {
                    let file = try PlainFile.read(path, limit: HandlerLimits.fileBytes)
                    let declares = path.hasSuffix(".json") || DesktopFile.mayDeclare(file.bytes)
                    present[path] = CachedFile(
                        version: file.version, content: declares ? .declares(file.bytes) : .nothing)
                } catch {
                    // It is unknown whether a desktop entry that is too large is for Handoff.
                    if error != .fileTooLarge || path.hasSuffix(".json") {
                        found.problems.insert("cannot use \(path): \(error)")
                    }
                    return nil
                }
            }
            if case .declares(let bytes) = present[path]?.content { return bytes }
            return nil
        }

        /// Returns the sorted names in a folder. If it does not exist, watches for it.
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

        /// Watches the nearest existing parent folder for the next component of the path.
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
