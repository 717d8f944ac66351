"""`python -m tang`: the command line."""

from tang.cli import main

if __name__ == "__main__":
    main()
