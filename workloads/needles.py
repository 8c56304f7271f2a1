"""Needles of several forms: a sentence that tells a fact, the question for it, and the answer.

No form is that of the numbered notes (`workloads.niah`), so that what was trained on those meets another one.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

FIRST_NAMES = (
    "Agnes", "Bruno", "Clara", "Dorian", "Elsa", "Fabian", "Greta", "Hector", "Ingrid", "Jasper", "Katrin", "Leopold",
    "Mathilde", "Norbert", "Ottilie", "Pascal", "Rosalind", "Sigrid", "Tobias", "Ulrike",
)  # fmt: skip
LAST_NAMES = (
    "Ahlberg", "Brandt", "Castell", "Dreyer", "Engström", "Fontaine", "Gruber", "Hollander", "Iversen", "Jansky",
    "Kowalski", "Lindqvist", "Moreau", "Novak", "Okafor", "Petrov", "Quist", "Rasmussen", "Silveira", "Tanaka",
)  # fmt: skip
PLACES = (
    "Aarhus", "Basel", "Bergen", "Cordoba", "Dresden", "Eindhoven", "Florence", "Geneva", "Haarlem", "Innsbruck",
    "Jakarta", "Krakow", "Lisbon", "Malmö", "Nairobi", "Odense", "Porto", "Quito", "Rotterdam", "Salzburg", "Toledo",
    "Uppsala", "Vienna", "Zagreb",
)  # fmt: skip
OFFICES = ("captain", "owner", "builder", "cook", "pilot", "painter")
SHIPS = (
    "Albatross", "Bellona", "Cormorant", "Dolphin", "Endurance", "Falcon", "Gannet", "Heron", "Iris", "Juno",
    "Kestrel", "Marigold", "Nautilus", "Osprey", "Petrel",
)  # fmt: skip
ROOMS = (
    "archive", "boiler room", "cellar", "darkroom", "garage", "greenhouse", "laboratory", "laundry", "library",
    "observatory", "pantry", "workshop",
)  # fmt: skip


@dataclass(frozen=True)
class Needle:
    """A fact. `question` ends a chat prompt; `cue`, a question and the beginning of its answer, one to complete."""

    sentence: str
    question: str
    cue: str
    answer: str


def place(rng: random.Random) -> Needle:
    """Where somebody is from."""
    who, where = _person(rng), rng.choice(PLACES)
    question = f"What is the hometown of {who}?"
    return Needle(
        f"The hometown of {who} is {where}.",
        f"{question} Reply with the name of the town alone.",
        f"Question: {question}\nAnswer: The hometown of {who} is",
        where,
    )


def number(rng: random.Random) -> Needle:
    """The number of somebody's locker, of four digits."""
    who, which = _person(rng), str(rng.randint(1000, 9999))
    question = f"What is the number of the locker of {who}?"
    return Needle(
        f"The number of the locker of {who} is {which}.",
        f"{question} Reply with the number alone.",
        f"Question: {question}\nAnswer: The number of the locker of {who} is",
        which,
    )


def name(rng: random.Random) -> Needle:
    """Who holds an office on a ship."""
    office, ship, who = rng.choice(OFFICES), rng.choice(SHIPS), _person(rng)
    question = f"What is the name of the {office} of the {ship}?"
    return Needle(
        f"The name of the {office} of the {ship} is {who}.",
        f"{question} Reply with the name alone.",
        f"Question: {question}\nAnswer: The name of the {office} of the {ship} is",
        who,
    )


def code(rng: random.Random) -> Needle:
    """The access code of a room: two letters and four digits."""
    room = rng.choice(ROOMS)
    letters = "".join(rng.choice("BCDFGHJKLMNPQRSTVWXZ") for _ in range(2))
    which = f"{letters}{rng.randint(1000, 9999)}"
    question = f"What is the access code of the {room}?"
    return Needle(
        f"The access code of the {room} is {which}.",
        f"{question} Reply with the code alone.",
        f"Question: {question}\nAnswer: The access code of the {room} is",
        which,
    )


FORMS: dict[str, Callable[[random.Random], Needle]] = {"place": place, "number": number, "name": name, "code": code}
"""Every form by its name, in the order in which they take turns."""


def draw(form: str, count: int, text: str, rng: random.Random) -> tuple[Needle, ...]:
    """`count` needles of one form, of distinct questions and answers; the answers stand nowhere in `text`."""
    found: list[Needle] = []
    while len(found) < count:
        needle = FORMS[form](rng)
        taken = any(needle.cue == other.cue or needle.answer == other.answer for other in found)
        if not taken and needle.answer.casefold() not in text.casefold():
            found.append(needle)
    return tuple(found)


def _person(rng: random.Random) -> str:
    return f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"
