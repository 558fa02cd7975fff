#pragma once
#include <jansson.h>
#include <string.h>

/// Returns the type of a value. `json_typeof` is a macro, which Swift does not import.
static inline int cjansson_type(const json_t *value) {
    return (int)json_typeof(value);
}

/// Returns the reason for rejecting a text. `json_error_code` is also the name of its type.
static inline int cjansson_error_code(const json_error_t *error) {
    return (int)json_error_code(error);
}

/// Returns true if a text was rejected because an escape is half of a surrogate pair. jansson
/// reports this only in its text.
static inline int cjansson_is_half_surrogate(const json_error_t *error) {
    return strncmp(error->text, "invalid Unicode '", strlen("invalid Unicode '")) == 0;
}
