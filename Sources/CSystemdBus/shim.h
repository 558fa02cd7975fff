// sd-bus alone: who must not speak to a bus does not see this module.
#pragma once
#include <systemd/sd-bus.h>
