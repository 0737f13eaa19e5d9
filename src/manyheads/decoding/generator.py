"""Texts continued by a language model.

generator = Generator("runs/shakespeare")
generator.generate("ROMEO:", tokens=200, temperature=0.8)
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

import torch
from torch import Tensor

from manyheads.config.model_config import WritingConfig
from manyheads.decoding.search.sampling import Sampling, sampler
from manyheads.errors import ManyheadsError
from manyheads.models.interface import LanguageModel
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import choose_device, load_model


class Generator:
    """Continues texts with the language model of a run.

    Args:
        run_folder: A run folder, or its path.
        device: Where to compute: `auto`, `cpu`, `cuda` or `mps`.

    Raises:
        ManyheadsError: If there is no such run, or its model is no language model.
    """

    def __init__(self, run_folder: PathLike[str] | str, *, device: str = "auto") -> None:
        run = RunFolder.open(run_folder)
        self.model: LanguageModel = load_model(LanguageModel, run, device=choose_device(device))  # type: ignore[type-arg]
        self.tokenizer = run.tokenizers().source
        self.special = run.config_for(WritingConfig).special

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self.model.output_vectors.device

    def generate(
        self,
        prompt: str = "",
        *,
        tokens: int = 200,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
    ) -> str:
        """Return the text that follows a prompt; the arguments are those of `stream`."""
        return "".join(self.stream(prompt, tokens=tokens, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed))

    @torch.inference_mode()
    def stream(
        self,
        prompt: str = "",
        *,
        tokens: int = 200,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
    ) -> Iterator[str]:
        """Yield the text that follows a prompt, token by token.

        Args:
            prompt: The beginning of the text.
            tokens: The number of tokens to generate.
            temperature: Below 1 it sharpens the distribution; 0 takes the most probable token.
            top_k: Draw from this many most probable tokens; 0 draws from all.
            top_p: Draw from the most probable tokens whose probabilities sum to this.
            seed: The seed of the draws.
        """
        if tokens < 1:
            raise ManyheadsError("must be at least 1.", where="tokens")
        choose = sampler(Sampling(temperature, top_k, top_p, seed), self.device)
        read = self.ids(prompt)
        state = self.model.read(torch.tensor([read[:-1]], dtype=torch.long, device=self.device), self.model.start(1))
        token, written, shown = read[-1], [], ""
        for _ in range(tokens):
            logits, state = self.model.step(self._one(token), state)
            token = int(choose(self._allowed(logits).log_softmax(dim=-1)))
            if token == self.special.end:
                return
            written.append(token)
            text = self.tokenizer.decode(written)
            if not text.endswith("\ufffd"):  # else a character whose bytes are not all there yet
                yield text[len(shown) :]
                shown = text

    def ids(self, prompt: str) -> list[int]:
        """Return the ids that a text begins with: a line break where there is no prompt."""
        read = self.tokenizer.encode(prompt)
        if self.special.unknown in read:
            raise ManyheadsError(
                f"this model does not know {self._unknown(prompt)}, which its training text did not have.",
                where="prompt",
                cure="Leave it out.",
            )
        return read or self.tokenizer.encode("\n")

    def _unknown(self, prompt: str) -> str:
        """Return the first word or character of a prompt that the model does not know."""
        whole = prompt.split() if self.tokenizer.of_words else prompt
        return next(repr(one) for one in whole if self.special.unknown in self.tokenizer.encode(one))

    def _one(self, token: int) -> Tensor:
        """Return one token as a batch [1]."""
        return torch.tensor([token], device=self.device)

    def _allowed(self, logits: Tensor) -> Tensor:
        """Return logits [1, V] without the tokens that are never output."""
        allowed = logits.clone()
        allowed[:, [*self.special.never, self.special.unknown]] = float("-inf")
        return allowed
