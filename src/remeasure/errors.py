"""The one exception that is shown to the person at the keyboard without a traceback."""


class UserError(Exception):
    """Something the user can mend: says what was wrong, where, what is allowed, what to do.

    Commands print it as one line (more if it lists several causes) and exit with `exit_code`.
    """

    exit_code = 1


class ParameterError(UserError):
    """A parameter that cannot be used: names the key, the value and what is allowed."""

    exit_code = 2
