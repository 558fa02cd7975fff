"""The digits of pairing codes as text. Uses no other package, for tests that run without those of the peer."""

CODE_DIGITS = 8


def code(number):
    """The code with this value, modulo the number of codes."""
    return f"{number % 10**CODE_DIGITS:0{CODE_DIGITS}}"


def other_code(text, by=1):
    """The code whose value differs from that of `text` by `by`."""
    return code(int(text.replace(" ", "")) + by)
