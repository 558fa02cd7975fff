internal import COpenSSL

/// The curve P-256, also called secp256r1 and prime256v1 (FIPS 186-4 D.1.2.3).
enum P256 {
    /// The group (`EC_GROUP_new_by_curve_name`); never changed.
    static let group: SharedHandle = {
        OpenSSL.start()
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
            // A part of every OpenSSL 3: its absence is a broken installation.
            preconditionFailure("OpenSSL has no P-256")
        }
        return SharedHandle(group, free: EC_GROUP_free)
    }()

    /// The number of points, which is prime; belongs to `group`.
    static var order: OpaquePointer? {
        EC_GROUP_get0_order(group.pointer)
    }
}
