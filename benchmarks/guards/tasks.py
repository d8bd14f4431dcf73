"""The tasks: what is asked, how it is solved from what can be seen, and when an answer is right."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.guards.view import Result, View
from benchmarks.guards.world import World

Call = tuple[str, "dict[str, object]"]


@dataclass
class Move:
    """What the model wants to do next: call, or say something."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)


class Task(ABC):
    """Something to do in a world."""

    prompt: str

    def __init__(self, world: World) -> None:
        self.world = world

    @abstractmethod
    def step(self, view: View) -> Move:
        """The next move, from what can be seen."""

    @abstractmethod
    def right(self, answer: str) -> bool:
        """Whether an answer that claims success is right."""

    wrong: str = "It is 424242."
    """What somebody says who guesses."""


def saved_names(results: list[Result]) -> Iterator[str]:
    """The names of saved results that previews speak of."""
    for result in results:
        yield from dict.fromkeys(re.findall(r"\b\d+-[\w-]+\.(?:txt|json)\b", result.text))


class Sum(Task):
    """Fetch pages, all at once or in batches, and add up their numbers."""

    def __init__(self, world: World, pages: int = 3, batch: int = 60, tool: str = "fetch") -> None:
        super().__init__(world)
        self.pages = world.random.sample(range(1, 61), pages)
        self.batch, self.tool = batch, tool
        self.prompt = f"Add up the numbers of pages {', '.join(map(str, self.pages))}, and say CARROT in your answer."

    def step(self, view: View) -> Move:
        found = {int(page): int(number) for page, number in re.findall(NUMBER, view.all_text())}
        missing = [page for page in self.pages if page not in found]
        known = sum(found.values())
        totals = re.findall(r'"total": (\d+)', "".join(result.text for result in view.of("add")))
        if missing and view.tools:
            return Move(calls=[*self._ways(view, missing)][: self.batch])
        if missing:
            return Move(f"CARROT: {known} without pages {missing}, which are missing.")
        if not totals and "add" in view.tools:
            return Move(calls=[("add", {"numbers": [found[page] for page in self.pages]})])
        word = "CARROT" if "CARROT" in view.prompt else "…"
        return Move(f"{word}: the total is {totals[-1]}." if totals else f"{word}: not added up yet.")

    def _ways(self, view: View, missing: list[int]) -> Iterator[Call]:
        read = {str(result.arguments.get("name")) for result in view.of("read_result")}
        hidden = [result for result in view.of(self.tool) if not re.search(NUMBER, result.text)]
        saved = [name for name in saved_names(hidden) if name not in read]
        if saved and "read_result" in view.tools:
            for name in saved:
                yield "read_result", {"name": name, "limit": 100}
        else:
            for page in missing:
                yield self.tool, {"page": page}

    def right(self, answer: str) -> bool:
        return f"total is {sum(self.world.numbers[page] for page in self.pages)}." in answer and "CARROT" in answer


class Hurried(Sum):
    """Fetch pages, and answer from what there is once the budget runs low."""

    def step(self, view: View) -> Move:
        if any(re.search(r"\d ?%", result.text) for result in view.results[5:]):
            found = dict(re.findall(NUMBER, view.all_text()))
            missing = [page for page in self.pages if str(page) not in found]
            return Move(f"CARROT: {sum(map(int, found.values()))} without pages {missing}, which are missing.")
        return super().step(view)


NUMBER = r"page (\d+): number (\d+)"


class Convert(Task):
    """Convert a length."""

    def __init__(self, world: World, unit: str = "") -> None:
        super().__init__(world)
        self.amount, self.unit = world.random.randint(2, 9), unit or world.random.choice(["foot", "yard", "mile"])
        self.prompt = f"How long are {self.amount} {self.unit} in metres?"

    def step(self, view: View) -> Move:
        for result in view.of("convert"):
            if found := re.search(r'"summary": "([^"]+)"', result.text):
                return Move(found[1])
        if "convert" in view.tools:
            return Move(calls=[("convert", {"amount": self.amount, "unit": self.unit})])
        return Move("I could not convert it.")

    def right(self, answer: str) -> bool:
        from benchmarks.guards.world import METRES

        factor = METRES.get(self.unit)
        return factor is not None and f"{self.amount * factor:g} metres" in answer


class Ambiguous(Convert):
    """Convert what only the user can settle."""

    def __init__(self, world: World) -> None:
        super().__init__(world, "gallon")


class Impossible(Convert):
    """Convert what nobody can."""

    def __init__(self, world: World) -> None:
        super().__init__(world, "cubit")


class Look(Task):
    """Find something under another name than the first that comes to mind."""

    prompt = "How heavy is a red kite?"
    words = ("red kite weight", "Milvus milvus weight")

    def step(self, view: View) -> Move:
        for result in view.of("search"):
            if found := re.search(r'"summary": "([^"]+)"', result.text):
                return Move(found[1])
        told = any("Latin name" in result.text for result in view.of("search"))
        if "search" in view.tools:
            return Move(calls=[("search", {"query": self.words[told]})])
        return Move("I did not find it.")

    def right(self, answer: str) -> bool:
        return f"{self.world.weight} hundred grams" in answer


class Pay(Task):
    """Pay once."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.amount = world.random.randint(10, 99)
        self.prompt = f"Pay {self.amount} to Ann, once, and give me the receipt."

    def step(self, view: View) -> Move:
        receipts = re.findall(r"receipt (R\d+)", view.all_text())
        if receipts:
            return Move(f"Paid, receipt {receipts[0]}.")
        if "pay" in view.tools:
            return Move(calls=[("pay", {"amount": self.amount, "to": "Ann"})])
        return Move("I cannot say whether it was paid.")

    def right(self, answer: str) -> bool:
        return self.world.payments == [(self.amount, "Ann")] and "receipt R1" in answer


class Note(Task):
    """Write, read, write something else and read again."""

    prompt = "Keep a draft, read it, replace it by the final text, and read that back to me."

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.texts = [f"draft {world.random.random()}", f"final {world.random.random()}"]

    def step(self, view: View) -> Move:
        write, read = "write_note", "read_note"
        done = [result.tool for result in view.of(write, read)]
        plan: list[Call] = [
            (write, {"name": "n", "text": self.texts[0]}),
            (read, {"name": "n"}),
            (write, {"name": "n", "text": self.texts[1]}),
            (read, {"name": "n"}),
        ]
        if len(done) < len(plan) and write in view.tools:
            return Move(calls=[plan[len(done)]])
        texts = re.findall(r"note says: (.+)", "\n".join(result.text for result in view.of(read)))
        return Move(f"It says: {texts[-1]}" if texts else "I have not read it.")

    def right(self, answer: str) -> bool:
        return self.texts[1] in answer


class Poll(Task):
    """Wait for a job."""

    prompt = "Wait until the job is done and tell me its result."

    def step(self, view: View) -> Move:
        seen = [result.text for result in view.of("job_status")]
        if found := re.search(r"result (\d+)", "\n".join(seen)):
            return Move(f"The result is {found[1]}.")
        if "job_status" in view.tools:
            return Move(calls=[("job_status", {})])
        return Move(f"It is not done; the last I saw was: {seen[-1] if seen else 'nothing'}.")

    def right(self, answer: str) -> bool:
        return answer == f"The result is {self.world.weight}."


class Archive(Task):
    """Find a code in a result that is too long to read."""

    prompt = "Which code is in the archive?"

    def step(self, view: View) -> Move:
        if found := re.search(r"CODE=([0-9a-f]{6})", view.all_text()):
            return Move(f"The code is {found[1]}.")
        names = list(saved_names(view.of("archive")))
        if names and "search_result" in view.tools and not view.of("search_result"):
            return Move(calls=[("search_result", {"name": names[-1], "pattern": "CODE=[0-9a-f]+"})])
        if "archive" in view.tools and not view.of("archive"):
            return Move(calls=[("archive", {})])
        return Move("I have not found a code.")

    def right(self, answer: str) -> bool:
        return answer == f"The code is {self.world.code}."


class Greet(Task):
    """Say something, without tools."""

    prompt = "Say hello to Ann."

    def step(self, view: View) -> Move:
        return Move("Hello, Ann! " + "It is a pleasure to see you again." * view.prompt.count("Ann"))

    def right(self, answer: str) -> bool:
        return answer == "Hello, Ann! It is a pleasure to see you again."
