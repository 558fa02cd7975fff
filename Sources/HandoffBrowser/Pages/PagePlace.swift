package import HandoffJSON

/// The user's position on a page: in the text and in media. Never contains anything that the user
/// has entered.
package struct PagePlace: Sendable, Equatable {
    /// A position in the text.
    package struct Reading: Sendable, Equatable {
        /// The first visible words, separated by single blanks.
        package var words: String
        /// The distance of their line from the top of the scrolling box, in CSS pixels; negative if
        /// the line starts above it.
        package var offset: Double
        /// The number of characters that belong to the paragraph in which the words start; nil for
        /// all.
        package var paragraph: Int?
        /// The occurrence, if the page has the same words several times; otherwise nil.
        package var copy: Copy?

        package init(words: String, offset: Double, paragraph: Int? = nil, copy: Copy? = nil) {
            self.words = words
            self.offset = offset
            self.paragraph = paragraph
            self.copy = copy
        }
    }

    /// One of several positions with the same words.
    package struct Copy: Sendable, Equatable {
        /// The index of the occurrence, from 0.
        package var index: Int
        /// The number of occurrences, at least 2.
        package var count: Int

        package init?(index: Int, count: Int) {
            guard (2...PagePlace.maxCopies).contains(count), (0..<count).contains(index) else { return nil }
            self.index = index
            self.count = count
        }
    }

    /// A position in a video or an audio recording.
    package struct Media: Sendable, Equatable {
        /// The time from its start, in seconds.
        package var time: Double
        /// True if it is playing.
        package var isPlaying: Bool

        package init(time: Double, isPlaying: Bool) {
            self.time = time
            self.isPlaying = isPlaying
        }
    }

    /// The key in `userInfo`.
    package static let key = "place"
    /// The maximum length of the words, in bytes.
    package static let maxWords = 1024
    private static let maxOffset = 1e6
    private static let maxTime = 1e6
    /// The maximum height of a page, in CSS pixels: browsers lay out at most 2^25.
    private static let maxHeight = 1e8
    private static let maxBoxBytes = 256
    fileprivate static let maxCopies = 1000

    /// The position in the text; nil at the very top, and on a page without text.
    package var reading: Reading?
    /// The scrolled fraction, from 0 to 1; for pages with different text on the other device.
    package var ratio: Double?
    /// The total height, in CSS pixels, because pages that load more content are shorter at first.
    /// Nil from devices that do not send it.
    package var height: Double?
    /// The path of the scrolling box in the element tree: child numbers from the root, with `f` for
    /// entering a frame, separated by `/`. Nil for the page itself.
    package var box: String?
    /// Media that plays or has played; nil for none.
    package var media: Media?

    package init(
        reading: Reading? = nil, ratio: Double? = nil, height: Double? = nil, box: String? = nil, media: Media? = nil
    ) {
        self.reading = reading
        self.ratio = ratio
        self.height = height
        self.box = box
        self.media = media
    }

    /// Reads untrusted values from a page's script or another device. Ignores values out of range.
    package init?(json: JSONObject) {
        if let words = json["words"]?.string, (1...Self.maxWords).contains(words.utf8.count),
            let offset = json["offset"]?.number, abs(offset) <= Self.maxOffset
        {
            reading = Reading(
                words: words, offset: offset,
                paragraph: Self.integer(json["paragraph"], in: 1...Self.maxWords),
                copy: Self.integer(json["copy"], in: 0...Self.maxCopies).flatMap { index in
                    Self.integer(json["copies"], in: 2...Self.maxCopies).flatMap { Copy(index: index, count: $0) }
                })
        }
        if let ratio = json["ratio"]?.number, (0...1).contains(ratio) {
            self.ratio = ratio
        }
        if let height = json["height"]?.number, (1...Self.maxHeight).contains(height) { self.height = height }
        if let box = json["box"]?.string, Self.isPath(box) { self.box = box }
        if let time = json["time"]?.number, (0...Self.maxTime).contains(time) {
            media = Media(time: time, isPlaying: json["playing"]?.bool ?? false)
        }
        if reading == nil, ratio == nil, media == nil { return nil }
    }

    private static func integer(_ json: JSON?, in range: ClosedRange<Int>) -> Int? {
        json?.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
    }

    private static func isPath(_ text: String) -> Bool {
        text.utf8.count <= maxBoxBytes
            && text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { step in
                let isNumber = step.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                return step.elementsEqual("f".utf8) || ((1...6).contains(step.count) && isNumber)
            }
    }

    /// The position as sent to other devices.
    package var json: JSONObject {
        var json: JSONObject = [:]
        if let reading {
            json["words"] = .string(reading.words)
            json["offset"] = .real(reading.offset)
            if let paragraph = reading.paragraph { json["paragraph"] = .integer(Int64(paragraph)) }
            if let copy = reading.copy {
                json["copy"] = .integer(Int64(copy.index))
                json["copies"] = .integer(Int64(copy.count))
            }
        }
        if let ratio { json["ratio"] = .real(ratio) }
        if let height { json["height"] = .real(height) }
        if let box { json["box"] = .string(box) }
        if let media {
            json["time"] = .real(media.time)
            json["playing"] = .bool(media.isPlaying)
        }
        return json
    }
}
