// Nothing is imported: the linker finds the functions.
