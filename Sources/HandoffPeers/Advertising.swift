/// The means by which local offers are announced, and whether the offers have titles.
package struct Advertising: Sendable {
    /// The means by which offers are announced.
    package enum Reach: Sendable {
        /// Datagrams to each member, and the multicast record.
        case all
        /// Datagrams to each member. The multicast record does not change with the offers.
        case datagrams
        /// None.
        case none
    }

    /// The means by which offers are announced.
    package var reach: Reach
    /// True if announced offers have their titles.
    package var showsTitles: Bool

    /// Creates the setting with these values.
    package init(reach: Reach, showsTitles: Bool) {
        self.reach = reach
        self.showsTitles = showsTitles
    }
}
