"""The rules, a module for each kind; `tang.rewrite.catalogue` lists them all.

Relies on `tang.rewrite.rule`. Holds no code.
"""
