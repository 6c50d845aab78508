#!/usr/bin/env python3
"""Demo VINs and two decoders that are not ours.

Reads lines "VIN<tab>YEAR<tab>MAKE<tab>MODEL" and asks `vin` (NHTSA vPIC data) for check digit, year,
make and model, and `vininfo` (its own manufacturer table) for check digit, year and make.

    cargo run -p frontdesk-contracts --example demo_vins | python3 scripts/interop/vins.py

Needs `pip install vin==0.6.2 vininfo==1.11.0`.
"""

import sys

from vin import VIN
from vininfo import Vin

# What dealers label, and what vPIC keeps as the model (the rest is its series or trim).
VPIC_MODEL = {
    "mx-5 miata": "mx-5",
    "sierra 1500": "sierra",
    "silverado 1500": "silverado",
}

# vininfo names the company or its country branch; these are the makes it stands for.
VININFO_MAKES = {
    "chevrolet mexico": {"chevrolet"},
    "chevrolet usa": {"chevrolet"},
    "chrysler canada": {"chrysler"},
    "dodge": {"dodge", "jeep"},  # all Stellantis passenger vehicles of the code 1C4
    "dodge mexico": {"dodge", "jeep"},  # likewise 3C4
    "gmc truck": {"gmc"},
    "lexus canada": {"lexus"},
    "tesla motors usa": {"tesla"},
    "toyota mexico": {"toyota"},
}


def main() -> int:
    lines = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    complaints = []
    disagreeing = 0
    for line in lines:
        found = list(disagreements(line))
        disagreeing += bool(found)
        complaints += [f"{line!r}: {complaint}" for complaint in found]
    print(f"{len(lines)} VINs: {len(lines) - disagreeing} agree")
    for complaint in complaints:
        print(complaint)
    # No lines at all mean a broken pipe and fail.
    return 1 if complaints or not lines else 0


def disagreements(line: str):
    fields = line.split("\t")
    if len(fields) != 4:
        yield "not four tab-separated fields"
        return
    number, year, make, model = fields
    yield from by_vpic(number, year, make, model)
    yield from by_vininfo(number, year, make)


def by_vpic(number: str, year: str, make: str, model: str):
    try:
        decoded = VIN(number)
    except Exception as refusal:
        yield f"vin refuses it: {refusal!r}"
        return
    wanted = VPIC_MODEL.get(model.lower(), model.lower())
    if str(decoded.model_year) != year:
        yield f"vin says year {decoded.model_year}"
    if decoded.make.lower() != make.lower():
        yield f"vin says make {decoded.make!r}"
    if decoded.model.lower() != wanted:
        yield f"vin says model {decoded.model!r}"


def by_vininfo(number: str, year: str, make: str):
    try:
        decoded = Vin(number)
    except Exception as refusal:
        yield f"vininfo refuses it: {refusal!r}"
        return
    if not decoded.verify_checksum():
        yield "vininfo says the check digit is wrong"
    # It lists one year for each cycle of thirty.
    if int(year) not in decoded.years:
        yield f"vininfo says years {decoded.years}"
    named = decoded.manufacturer.lower()
    if make.lower() not in VININFO_MAKES.get(named, {named}):
        yield f"vininfo says make {decoded.manufacturer!r}"


if __name__ == "__main__":
    sys.exit(main())
