"""General English words: words without a topic, and alternative meanings. There are no tool names here."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The set of words in a text."""
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
"""Words that a tool need not account for. Prepositions are included because binding reads them as roles."""

COURTESY = word_set(
    "hi hello hey there thanks thank you please kindly good morning afternoon evening day ok okay cheers dear sir "
    "madam in advance so very much a lot"
)
"""Words of greeting and thanks."""

CONTENT_AFTER_ALL = word_set(
    "not no never none without except excluding unless n't neither nor other instead if why because"
)
"""Words that change the meaning: if no argument accounts for one, the question cannot be answered."""

GENERIC = word_set(
    """
    get fetch find show list display retrieve return give tell read compute make do run use provide query lookup
    search tool function api service data info information item of for the a an in by to from with and or
    between current currently calendar general simple plain basic full all standard common value values result
    results given name names number numbers new one two
    """
)
"""Words in a tool's name that do not narrow its topic."""

QUALIFIERS = word_set(
    """
    business working workday holiday imperial historical history past previous average mean median minimum
    maximum min max daily hourly weekly monthly yearly annual forecast future public private deleted archived
    reverse inverse lower upper first last next random nearest delete remove update create write send cancel
    move rename draft
    """
)
"""Words in a tool's name that narrow its topic: the question must contain them, too."""

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
"""Terms of several words by their first word; each becomes one token."""

_CALLED = {
    "add sum plus arithmetic": "addition",
    "age old years duration": "age",
    "since between duration elapsed": "ago",
    "age born birth": "born",
    "calculate compute evaluate arithmetic math mathematical expression": "calculate compute evaluate",
    "upper case uppercase": "capitals",
    "upper case": "uppercase",
    "lower case": "lowercase",
    "upper title case": "capitalise",
    "price cost": "cheap cost expensive howexpensive pay price",
    "temperature weather": "chilly cold hot temperature warm",
    "time": "clock",
    "convert conversion change transform": "convert",
    "date datetime day calendar": "date",
    "day days weekday": "day",
    "define definition meaning dictionary": "define",
    "distance length unit route": "distance",
    "date weekday day": "fall",
    "distance length unit": "far",
    "hours duration time": "hour",
    "size area population": "howbig",
    "distance length unit units": "howfar",
    "weight mass unit units": "howheavy",
    "temperature weather unit units": "howhot",
    "duration length between elapsed unit units": "howlong",
    "count number population quantity": "howmany",
    "price cost amount": "howmuch",
    "age duration years between": "howold",
    "height length unit units": "howtall",
    "population inhabitants": "inhabitant live population",
    "add after": "later",
    "length count": "length",
    "time timezone local": "local",
    "minutes duration time": "minute",
    "add sum": "plus",
    "weather rain precipitation": "rain",
    "search find": "seek",
    "weather condition": "sunny",
    "time datetime clock": "time",
    "current now today date": "today",
    "weekday date": "whatday",
    "business working work": "work",
    "price value": "worth",
}
"""Words that tools may use, and words in questions with that meaning."""
HINTS = {word: called for called, words in _CALLED.items() for word in words.split()}
"""The words that tools may use for a word in a question."""

_COMPARED = {  # comparatives for more, and for less
    "temperature": ("warmer hotter", "colder cooler"), "price": ("dearer costlier", "cheaper"),
    "age": ("older", "younger"), "height": ("taller", ""), "length": ("longer", "shorter"),
    "weight": ("heavier", "lighter"), "speed": ("faster", "slower"), "income": ("richer", "poorer"),
}  # fmt: skip
COMPARATIVES: dict[str, tuple[str, int]] = {
    word: (noun, 1 - 2 * less) for noun, sides in _COMPARED.items() for less in (0, 1) for word in sides[less].split()
}
"""Comparatives with the property that they compare, and whether they mean more (1) or less (-1)."""

MORE_OR_LESS: dict[str, int] = {
    **dict.fromkeys(word_set("more most higher highest larger largest bigger greater"), 1),
    **dict.fromkeys(word_set("less fewer least lower lowest smaller"), -1),
}
"""Comparatives that need a noun for the property: ``more people``, ``a lower price``."""

NOUN_OF_ADJECTIVE = {"expensive": "price", "populous": "population", "populated": "population"}
"""Adjectives used with ``more`` and ``less``, with their property."""

NOUNS_FOR = {**NOUN_OF_ADJECTIVE, "people": "population", "inhabitants": "population"}
"""Words used after ``more`` and ``less``, with the property they mean."""

GENERAL_KNOWLEDGE = word_set(
    "encyclopedia encyclopaedia wikipedia wiki mediawiki web internet knowledge fact facts article articles topic"
)
"""Words in the descriptions of tools that look up any subject."""

SUPERLATIVES = word_set(
    "best worst most least largest biggest smallest highest lowest greatest fewest longest shortest tallest latest"
)
"""Superlatives: they do not ask for a name."""

REFERENCES = word_set("that it this those them result answer")
"""Words that refer to the result of an earlier part."""
