"""Words of general English that carry no topic, and what else a word can mean. Nothing here names a tool."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for membership."""
    return frozenset(text.split())


FUNCTION = word_set(
    """
    a an the this these those some any each all both of in on at to into for from by with as about per than then
    and or also too so is are was were be been being am 's 're do does did done has have had can could may might
    would should shall will must i me my we us our you your it its he she they them their there here one ones
    what which whats howmany howmuch please kindly just exactly actually currently current now today equal
    equals tell give show find get fetch let know say list display return want need like wonder ask see make
    take use using between until till since after before when up out off over many much hi hey ok okay thanks
    thank well right following given value result answer number amount total via through same every another
    i'd i'm i've i'll howis altogether people person someone somebody come comes go goes stand happen happens
    """
)
"""Words that need no explanation. Prepositions are here because binding reads them as roles."""

COURTESY = word_set(
    "hi hello hey there thanks thank you please kindly good morning afternoon evening day ok okay cheers dear sir "
    "madam in advance so very much a lot"
)
"""Words of greeting and thanks."""

CONTENT_AFTER_ALL = word_set(
    "not no never none without except excluding unless n't neither nor other instead if why because"
)
"""Words that turn a meaning round: one that no argument accounts for makes a question unanswerable."""

GENERIC = word_set(
    """
    get fetch find show list display retrieve return give tell read compute make do run use provide query lookup
    search tool function api service data info information item of for the a an in by to from with and or
    between current currently calendar general simple plain basic full all standard common value values result
    results given name names number numbers new one two
    """
)
"""Words of a tool's name that do not narrow what it answers."""

QUALIFIERS = word_set(
    """
    business working workday holiday imperial historical history past previous average mean median minimum
    maximum min max daily hourly weekly monthly yearly annual forecast future public private deleted archived
    reverse inverse lower upper first last next random nearest delete remove update create write send cancel
    move rename draft
    """
)
"""Words of a tool's name that narrow what it answers or does: the question must say them too."""

_PHRASES = {
    "weekday": ("what day of the week", "which day of the week", "day of the week", "day of week", "week day"),
    "whatday": ("what day", "which day"),
    "daynumber": ("what day number", "which day number", "day number"),
    "timezone": ("time zone",),
    "lookup": ("look up", "look for"),
    "percent": ("per cent",),
    "now": ("right now", "at the moment", "as of now", "at present"),
    "howmany": ("how many",),
    "howmuch": ("how much",),
    "howfar": ("how far",),
    "howold": ("how old",),
    "howlong": ("how long",),
    "howtall": ("how tall", "how high"),
    "howhot": ("how hot", "how cold", "how warm"),
    "howheavy": ("how heavy",),
    "howbig": ("how big", "how large"),
    "howexpensive": ("how expensive",),
    "howis": ("how is", "how 's", "how are"),
}
PHRASES: dict[str, list[tuple[list[str], str]]] = {}
for _term, _texts in _PHRASES.items():
    for _text in _texts:
        PHRASES.setdefault(_text.split()[0], []).append((_text.split(), _term))
"""Terms of several words, by their first word; each is read as one token."""

HINTS: dict[str, str] = {
    "addition": "add sum plus arithmetic",
    "age": "age old years duration",
    "ago": "since between duration elapsed",
    "born": "age born birth",
    "calculate": "calculate compute evaluate arithmetic math mathematical expression",
    "capitals": "upper case uppercase",
    "uppercase": "upper case",
    "lowercase": "lower case",
    "capitalise": "upper title case",
    "cheap": "price cost",
    "chilly": "temperature weather",
    "clock": "time",
    "cold": "temperature weather",
    "compute": "calculate compute evaluate arithmetic math mathematical expression",
    "convert": "convert conversion change transform",
    "cost": "price cost",
    "date": "date datetime day calendar",
    "day": "day days weekday",
    "define": "define definition meaning dictionary",
    "distance": "distance length unit route",
    "evaluate": "calculate compute evaluate arithmetic math mathematical expression",
    "expensive": "price cost",
    "fall": "date weekday day",
    "far": "distance length unit",
    "hot": "temperature weather",
    "hour": "hours duration time",
    "howbig": "size area population",
    "howcold": "temperature weather",
    "howexpensive": "price cost",
    "howfar": "distance length unit units",
    "howheavy": "weight mass unit units",
    "howhot": "temperature weather unit units",
    "howlong": "duration length between elapsed unit units",
    "howmany": "count number population quantity",
    "howmuch": "price cost amount",
    "howold": "age duration years between",
    "howtall": "height length unit units",
    "inhabitant": "population inhabitants",
    "later": "add after",
    "length": "length count",
    "live": "population inhabitants",
    "local": "time timezone local",
    "minute": "minutes duration time",
    "pay": "price cost",
    "plus": "add sum",
    "population": "population inhabitants",
    "price": "price cost",
    "rain": "weather rain precipitation",
    "seek": "search find",
    "sunny": "weather condition",
    "temperature": "temperature weather",
    "time": "time datetime clock",
    "today": "current now today date",
    "warm": "temperature weather",
    "week": "week",
    "whatday": "weekday date",
    "work": "business working work",
    "worth": "price value",
}
"""What a question's word may be called where a tool describes itself."""

COMPARATIVES: dict[str, tuple[str, int]] = {
    "colder": ("temperature", -1),
    "cooler": ("temperature", -1),
    "warmer": ("temperature", 1),
    "hotter": ("temperature", 1),
    "cheaper": ("price", -1),
    "dearer": ("price", 1),
    "costlier": ("price", 1),
    "older": ("age", 1),
    "younger": ("age", -1),
    "taller": ("height", 1),
    "longer": ("length", 1),
    "shorter": ("length", -1),
    "heavier": ("weight", 1),
    "lighter": ("weight", -1),
    "faster": ("speed", 1),
    "slower": ("speed", -1),
    "richer": ("income", 1),
    "poorer": ("income", -1),
}
"""Comparatives that name the property they compare, and whether more (1) or less (-1) of it is meant."""

MORE_OR_LESS: dict[str, int] = {
    "more": 1,
    "most": 1,
    "higher": 1,
    "highest": 1,
    "larger": 1,
    "largest": 1,
    "bigger": 1,
    "greater": 1,
    "less": -1,
    "fewer": -1,
    "least": -1,
    "lower": -1,
    "lowest": -1,
    "smaller": -1,
}
"""Comparatives that need the property beside them: ``more people``, ``a lower price``."""

NOUN_OF_ADJECTIVE = {"expensive": "price", "populous": "population", "populated": "population"}
"""Adjectives that take ``more`` and ``less``, with the property they are about."""

NOUNS_FOR = {**NOUN_OF_ADJECTIVE, "people": "population", "inhabitants": "population"}
"""What stands after ``more`` and ``less``, with the property it means."""

GENERAL_KNOWLEDGE = word_set(
    "encyclopedia encyclopaedia wikipedia wiki mediawiki web internet knowledge fact facts article articles topic"
)
"""What a tool says of itself that looks up anything, whatever the subject."""

SUPERLATIVES = word_set(
    "best worst most least largest biggest smallest highest lowest greatest fewest longest shortest tallest latest"
)
"""Words that rank: what they ask for is not a name."""

REFERENCES = word_set("that it this those them result answer")
"""Words that stand for what an earlier part found."""
