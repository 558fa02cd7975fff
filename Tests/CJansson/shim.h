#pragma once
#include <jansson.h>

/// Returns the type of a value. `json_typeof` is a macro, which Swift does not import.
static inline int cjansson_type(const json_t *value) {
    return (int)json_typeof(value);
}
