package import HandoffModel

/// `TypeVersions`: the versions of the app at the origin from which an app continues activities of
/// a type.
package struct TypeVersions: ControlValue {
    /// The type, which is also declared in the list of types.
    package var type: ActivityType
    /// The first version.
    var minimumVersion: AppVersion?
    /// The last version.
    var maximumVersion: AppVersion?

    /// Creates the versions of a type.
    package init(type: ActivityType, _ range: VersionRange) {
        self.type = type
        minimumVersion = range.minimum
        maximumVersion = range.maximum
    }

    /// The ranges in a list; the last entry of a type wins.
    package static func ranges(_ list: [TypeVersions]?) -> [ActivityType: VersionRange] {
        let pairs = (list ?? []).map {
            ($0.type, VersionRange(minimum: $0.minimumVersion, maximum: $0.maximumVersion))
        }
        return Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    /// Creates a list of all ranges, in the order of the types.
    package static func list(_ ranges: [ActivityType: VersionRange]) -> [TypeVersions] {
        ranges.sorted { $0.key.text < $1.key.text }.map { TypeVersions(type: $0.key, $0.value) }
    }
}
