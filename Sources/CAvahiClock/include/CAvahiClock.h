// The clock of Avahi's libraries. A program that links this target replaces the C library's
// gettimeofday(2). Only handoffd does.
#pragma once
