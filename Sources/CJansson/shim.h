#pragma once
#include <jansson.h>
#include <string.h>

/// What a value is: `json_typeof`, which is a macro and therefore not seen by Swift.
static inline int cjansson_type(const json_t *value) {
    return (int)json_typeof(value);
}

/// Why a text was refused: `json_error_code`, whose name is also that of its type.
static inline int cjansson_error_code(const json_error_t *error) {
    return (int)json_error_code(error);
}

/// True if a text was refused because an escape names half of a surrogate pair: jansson has no code for it, only words.
static inline int cjansson_is_half_surrogate(const json_error_t *error) {
    return strncmp(error->text, "invalid Unicode '", strlen("invalid Unicode '")) == 0;
}
