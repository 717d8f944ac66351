"""A handler for pool tests that doubles numbers, dies, raises and sleeps on demand."""

from __future__ import annotations

import os
import time


def serve(_folder: str):
    def answer(task):
        if task == "die":
            os.abort()
        if task == "raise":
            raise ValueError("no such luck")
        if task == "sleep":
            time.sleep(60)
        return task * 2

    return answer
