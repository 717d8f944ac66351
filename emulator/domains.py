"""The domains by name.

Defines `domain_named` and `balls`. Relies on the modules that define them. It adds nothing.
"""

from __future__ import annotations

from tang.emulator.ball_domain import balls
from tang.emulator.domain import Domain
from tang.emulator.formats import FORMATS
from tang.emulator.profiled import Native, formats_under, no_native, shadow_under
from tang.emulator.real import MEASURED_REAL, REAL
from tang.emulator.shadow import SHADOW
from tang.errors import FormatError
from tang.kernel.profile import IEEE, Profile


def domain_named(name: str, profile: Profile = IEEE, native: Native = no_native) -> Domain:
    """The domain of that name; balls get 128 bits. Raises FormatError naming the known ones.

    Of formats and shadow the one that follows a device of the profile.
    """
    known = {d.name: d for d in (FORMATS, REAL, MEASURED_REAL, SHADOW)}
    known["formats"] = formats_under(profile, native)
    known["shadow"] = shadow_under(profile, native)
    known["balls"] = balls(128)
    if name not in known:
        raise FormatError(f"unknown domain {name!r}: one of {', '.join(known)}")
    return known[name]


__all__ = ["FORMATS", "MEASURED_REAL", "REAL", "SHADOW", "balls", "domain_named"]
