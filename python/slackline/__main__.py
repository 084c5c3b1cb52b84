"""The command slackline of a wheel: it becomes the program inside."""

import os
import sys

from slackline import SlacklineError, program


def main() -> None:
    try:
        path = program()
    except SlacklineError as e:
        sys.exit(f"slackline: {e}")
    os.execv(path, ["slackline", *sys.argv[1:]])


if __name__ == "__main__":
    main()
