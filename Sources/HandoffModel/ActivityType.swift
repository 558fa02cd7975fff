import HandoffJSON

/// What kind of activity it is, such as `com.example.editing`; equal only when the UTF-8 bytes are.
package struct ActivityType: Hashable, Sendable, CustomStringConvertible {
    /// The longest type, in UTF-8 bytes: an advert carries it behind a length byte.
    package static let maximumByteCount = 255

    /// The type that crosses teams: whatever page a browser shows (`NSUserActivityTypeBrowsingWeb`).
    package static let browsingWeb = ActivityType(checked: "NSUserActivityTypeBrowsingWeb")

    /// The type as it was given.
    package let text: String

    /// Nil unless it is 1 to 255 UTF-8 bytes without white space, control and invisible characters.
    package init?(_ text: String) {
        guard (1...Self.maximumByteCount).contains(text.utf8.count) else { return nil }
        let isVisible = text.unicodeScalars.allSatisfy { scalar in
            // Joiners and selectors of variants, too: in a name for programs they only make two look like one.
            !scalar.properties.isWhitespace && !VisibleText.isHidden(scalar)
                && !scalar.properties.isDefaultIgnorableCodePoint
        }
        guard isVisible else { return nil }
        self.init(checked: text)
    }

    private init(checked text: String) {
        self.text = text
    }

    package var description: String {
        text
    }

    package static func == (left: ActivityType, right: ActivityType) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}
