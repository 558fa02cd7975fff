// Makes root unable to keep its rights, as if another user ran the program: sway does not start if it can become root.
// Loaded by `Tests/System/test_panels.py`.

#include <unistd.h>

int setuid(uid_t user) {
    (void)user;
    return -1;
}

int setgid(gid_t group) {
    (void)group;
    return -1;
}
