"""Kernels: their IR, plans, schedules, lowering, checks and text.

The package holds `ir`, `plan` and `schedule` (data), `lower` (graph to plan), `check` (legality),
`text` (dump) and `expand` (portable maths). It relies on `tang.ir`. Importing it loads nothing.
"""
