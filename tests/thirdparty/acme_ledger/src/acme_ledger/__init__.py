"""A ledger as a toolset: both ways of declaring tools, an interpreter, a skill, a check."""

from __future__ import annotations

from pydantic import BaseModel, Field

from react_run import Check, Outcome, ReActSkillSpec, ReActToolset, Run, ToolFailed, ToolSpec, Verdict, tool

BALANCES = {"rent": "1200.00", "food": "310.50"}


class Transfer(BaseModel):
    """Arguments of a transfer."""

    amount: float = Field(gt=0, description="How much.")
    to: str = Field(description="The account that receives it.")


class Ledger(ReActToolset):
    """Accounts and their balances."""

    currency: str = "EUR"
    """Shown behind every amount."""

    @tool(read_only=True)
    def balance(self, account: str) -> str:
        """Look up the balance of an account.

        Args:
            account: The name of the account, such as rent.
        """
        if account not in BALANCES:
            raise ToolFailed(f"there is no account {account!r}", code="unknown_account")
        return f"{BALANCES[account]} {self.currency}"

    def get_toolspecs(self) -> list[ToolSpec]:
        return [ToolSpec(name="transfer", description="Move money.", parameter_class=Transfer, read_only=False)]

    async def execute(self, tool_name: str, args: BaseModel) -> object:
        assert isinstance(args, Transfer)
        return {"moved": args.amount, "to": args.to, "currency": self.currency}

    def interpret_result(self, tool_name: str, args: object, result: object) -> Outcome | None:
        return Outcome.success(f"{tool_name}: {result}")

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [ReActSkillSpec(name="ledger", description="Accounts.", tool_names=("balance", "transfer"))]


class Archive(ReActToolset):
    """Old papers, with tools that are called like those of others."""

    @tool(read_only=True)
    def read_file(self, path: str) -> str:
        """Read an old paper."""
        return f"the old paper {path}"

    @tool(read_only=True)
    def mediawiki_search(self, query: str) -> str:
        """Search the old papers."""
        return f"old papers about {query}"


class NamesCurrency(Check):
    """Accepts answers that name the currency."""

    currency: str = "EUR"
    """What an answer has to contain."""

    async def check(self, run: Run, answer: str) -> Verdict:
        return Verdict(accepted=self.currency in answer, feedback=f"Name the currency ({self.currency}).")
