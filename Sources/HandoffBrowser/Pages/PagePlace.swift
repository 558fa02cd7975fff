package import HandoffJSON

/// Where somebody is on a page: what he reads, and what plays. Never anything that he has entered.
package struct PagePlace: Sendable, Equatable {
    /// Where he is in the text.
    package struct Reading: Sendable, Equatable {
        /// The first words that are seen, with single blanks between them.
        package var words: String
        /// How far their line is below the top of the box that scrolls, in CSS pixels; negative when its beginning is above.
        package var offset: Double
        /// How many characters of the words belong to the paragraph in which they begin; nil for all.
        package var paragraph: Int?
        /// Which of several places with the same words it is; nil where the page has them once.
        package var copy: Copy?

        package init(words: String, offset: Double, paragraph: Int? = nil, copy: Copy? = nil) {
            self.words = words
            self.offset = offset
            self.paragraph = paragraph
            self.copy = copy
        }
    }

    /// One of several places with the same words.
    package struct Copy: Sendable, Equatable {
        /// Its number, from 0.
        package var index: Int
        /// How many there are, 2 at least.
        package var count: Int

        package init?(index: Int, count: Int) {
            guard (2...PagePlace.maxCopies).contains(count), (0..<count).contains(index) else { return nil }
            self.index = index
            self.count = count
        }
    }

    /// Where he is in a film or a sound.
    package struct Media: Sendable, Equatable {
        /// Seconds from its beginning.
        package var time: Double
        /// Whether it plays.
        package var isPlaying: Bool

        package init(time: Double, isPlaying: Bool) {
            self.time = time
            self.isPlaying = isPlaying
        }
    }

    /// The key in `userInfo`.
    package static let key = "place"
    /// The most bytes of the words.
    package static let longestWords = 1024
    private static let farthest = 1e6
    private static let longestTime = 1e6
    /// The longest page, in CSS pixels: browsers lay out no more than 2^25.
    private static let maxHeight = 1e8
    private static let maxBoxBytes = 256
    fileprivate static let maxCopies = 1000

    /// What is read; nil at the very top, and on a page without text.
    package var reading: Reading?
    /// How much of the way has been scrolled, from 0 to 1; for pages whose text is another there.
    package var ratio: Double?
    /// The length of all that is scrolled, in CSS pixels: pages that load more of themselves are shorter at first. Nil from devices
    /// that do not send it.
    package var height: Double?
    /// Where the box that scrolls is in the tree of elements: numbers of children from the root on, with `f` into a frame, separated
    /// by `/`. Nil for the page itself.
    package var box: String?
    /// What plays, or has played; nil for none.
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

    /// Reads what a page's script or another device said, which may be anything: what is out of its range is left out.
    package init?(json: JSONObject) {
        if let words = json["words"]?.string, (1...Self.longestWords).contains(words.utf8.count),
            let offset = json["offset"]?.number, abs(offset) <= Self.farthest
        {
            reading = Reading(
                words: words, offset: offset,
                paragraph: Self.integer(json["paragraph"], in: 1...Self.longestWords),
                copy: Self.integer(json["copy"], in: 0...Self.maxCopies).flatMap { index in
                    Self.integer(json["copies"], in: 2...Self.maxCopies).flatMap { Copy(index: index, count: $0) }
                })
        }
        if let ratio = json["ratio"]?.number, (0...1).contains(ratio) {
            self.ratio = ratio
        }
        if let height = json["height"]?.number, (1...Self.maxHeight).contains(height) { self.height = height }
        if let box = json["box"]?.string, Self.isPath(box) { self.box = box }
        if let time = json["time"]?.number, (0...Self.longestTime).contains(time) {
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

    /// As it travels.
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
