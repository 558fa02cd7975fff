#include "CLinuxConfinement.h"

#include <errno.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The <linux/landlock.h> of the oldest supported build system lacks features of newer kernels that
// this runs on. The required parts of that stable interface are therefore defined here, under
// separate names.
struct ruleset_attributes {
    uint64_t file_rights; // ABI 1
    uint64_t net_rights;  // ABI 4
    uint64_t scopes;      // ABI 6
};

struct folder_rule {
    uint64_t rights;
    int32_t folder;
} __attribute__((packed));

enum {
    rule_path_beneath = 1,
    version_flag = 1,
    // Comments state the ABI version that introduced a right, if it is not 1.
    may_execute = 1 << 0,
    may_write_file = 1 << 1,
    may_remove_folder = 1 << 4,
    may_remove_file = 1 << 5,
    may_make_device = 1 << 6,
    may_make_folder = 1 << 7,
    may_make_file = 1 << 8,
    may_make_socket = 1 << 9,
    may_make_fifo = 1 << 10,
    may_make_block_device = 1 << 11,
    may_make_link = 1 << 12,
    may_move = 1 << 13,     // ABI 2; before that nothing can be moved to another folder
    may_truncate = 1 << 14, // ABI 3
    may_bind_tcp = 1 << 0,
    may_connect_tcp = 1 << 1,
    scope_abstract_sockets = 1 << 0,
    scope_signals = 1 << 1,
};

int clinux_confine_writing(int folder) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, version_flag);
    if (version < 1)
        return -1;
    struct ruleset_attributes attributes = {
        .file_rights = may_execute | may_write_file | may_remove_folder | may_remove_file | may_make_device |
                       may_make_folder | may_make_file | may_make_socket | may_make_fifo | may_make_block_device |
                       may_make_link,
    };
    uint64_t in_folder = may_write_file | may_remove_folder | may_remove_file | may_make_folder | may_make_file;
    if (version >= 2)
        attributes.file_rights |= may_move;
    if (version >= 3) {
        attributes.file_rights |= may_truncate;
        in_folder |= may_truncate;
    }
    size_t size = sizeof attributes.file_rights;
    if (version >= 4) {
        attributes.net_rights = may_bind_tcp | may_connect_tcp;
        size += sizeof attributes.net_rights;
    }
    if (version >= 6) {
        attributes.scopes = scope_abstract_sockets | scope_signals;
        size += sizeof attributes.scopes;
    }
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (ruleset < 0)
        return -1;
    struct folder_rule rule = {.rights = in_folder, .folder = folder};
    long result = folder < 0 ? 0 : syscall(SYS_landlock_add_rule, ruleset, rule_path_beneath, &rule, 0);
    if (result == 0)
        result = syscall(SYS_landlock_restrict_self, ruleset, 0);
    int error = errno;
    close(ruleset);
    errno = error;
    return result == 0 ? (int)version : -1;
}
