// A module for sd-bus only, so that code which must not use a bus does not import it.
#pragma once
#include <systemd/sd-bus.h>
