// Swift's module of the C library does not contain its translations.
#pragma once
#include <libintl.h>
#include <locale.h>
