"""The layout of a run folder, and the parts of it that can be read without torch.

recipe.yaml         the recipe, every key resolved
config.json         what is needed to rebuild the model
model.safetensors   the weights: the best so far
tokenizer/          SentencePiece models
held_out.json       the pairs cut off the training data for validation, if the recipe says so (`data.held_out`)
inputs.json         fingerprints of the files that the run reads, to see whether they change
checksums.json      checksums of the run's own files, to see whether one is damaged
shortlist.safetensors   likely translations of each token, if `manyheads shortlist` made them
checkpoints/step-…/ everything needed to go on
copies/            copies of the small files, to repair them from
begun.yaml          the recipe that training was last started with; its user may edit recipe.yaml
metrics.jsonl       loss, rate, speed and scores over time
events/             the same for TensorBoard
card.md             data, scores, command, versions
"""

from __future__ import annotations

import json
import os
import shlex
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from manyheads.bounded.files import MOST_RECORDS, MOST_SETTINGS, read_bytes
from manyheads.bounded.json_text import parse_settings
from manyheads.config.messages import explain
from manyheads.config.model_config import ConfigBase
from manyheads.config.reading import load_recipe, of_task, recipe_text
from manyheads.config.recipe import RecipeBase
from manyheads.config.tasks import config_class
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.data.text.cut import Cut
from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.errors import ManyheadsError, Notice
from manyheads.runs.atomic import explained, leftovers, new_folder, remove_folder, remove_leftovers, write_file
from manyheads.runs.checksums import HELD_OUT, TOKENIZER, cover, covered, forget
from manyheads.runs.repair import check_to_use
from manyheads.runs.shipped import find_run

if TYPE_CHECKING:  # reading corpora, which the fingerprints belong to, takes time to import
    from manyheads.config.tasks import ModelConfig, Recipe
    from manyheads.runs.inputs import Inputs

# What may differ between a run and the recipe it is continued with: it changes what comes, not what was learned.
CHANGEABLE = ("name", "training", "validation", "decoding")

# What is written by way of drafts, as regular expressions: in the run folder and in its checkpoints.
_WRITTEN = (
    r"(?:recipe|begun)\.yaml|(?:config|held_out|inputs|checksums)\.json|(?:model|shortlist)\.safetensors|tokenizer|copies"
    r"|metrics\.jsonl|card\.md"
)
_CHECKPOINT = r"step-[0-9]+"

R = TypeVar("R", bound=RecipeBase)
C = TypeVar("C", bound=ConfigBase)


@dataclass(frozen=True)
class RunFolder:
    """A folder with a run in it. It can be passed wherever a path can."""

    path: Path

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @property
    def recipe_file(self) -> Path:
        """The recipe, every key resolved."""
        return self.path / "recipe.yaml"

    @property
    def config_file(self) -> Path:
        """What is needed to rebuild the model."""
        return self.path / "config.json"

    @property
    def weights_file(self) -> Path:
        """The weights that translate."""
        return self.path / "model.safetensors"

    @property
    def tokenizer_folder(self) -> Path:
        """SentencePiece models."""
        return self.path / "tokenizer"

    @property
    def held_out_file(self) -> Path:
        """The pairs cut off the training data for validation."""
        return self.path / "held_out.json"

    @property
    def inputs_file(self) -> Path:
        """Fingerprints of the files that the run reads."""
        return self.path / "inputs.json"

    @property
    def shortlist_file(self) -> Path:
        """Which target tokens each source token may become, if `manyheads shortlist` was run."""
        return self.path / "shortlist.safetensors"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def begun_file(self) -> Path:
        """The recipe that the run was last started with."""
        return self.path / "begun.yaml"

    @property
    def metrics_file(self) -> Path:
        """Everything measured during training, one JSON object per line."""
        return self.path / "metrics.jsonl"

    @property
    def events(self) -> Path:
        """TensorBoard's folder."""
        return self.path / "events"

    @property
    def card_file(self) -> Path:
        """The card that people read."""
        return self.path / "card.md"

    @classmethod
    def open(cls, path: os.PathLike[str] | str | None) -> RunFolder:
        """Return an existing run whose model can be used; say what is missing otherwise.

        The name of a model that comes with the package is as good as a path; None is the first of these.
        """
        run = cls(find_run(path))
        where = None if path is None else os.fspath(path)
        if not run.path.is_dir():
            raise ManyheadsError(
                "there is no such run folder.",
                where=where,
                cure="'manyheads train' makes one; 'manyheads models' shows those that come with the package.",
            )
        check_to_use(run.path, tell=lambda sentence: warnings.warn(sentence, Notice, stacklevel=4))
        if not run.config_file.exists():
            raise ManyheadsError("this folder is not a run: it has no config.json.", where=where)
        if not run.weights_file.exists():
            raise ManyheadsError(
                "this run has no model yet.",
                where=where,
                cure="Let 'manyheads train' reach its first validation.",
            )
        return run

    def recipe(self) -> Recipe:
        """Return the run's recipe."""
        return load_recipe(self.recipe_file)

    def recipe_for(self, kind: type[R]) -> R:
        """Return the recipe of a run of one task; a run of another task is an error."""
        return of_task(kind, self.recipe(), origin=str(self.recipe_file))

    def config(self) -> ModelConfig:
        """Return what the model is built from."""
        try:
            values = parse_settings(read_bytes(self.config_file, most=MOST_SETTINGS))
            schema = config_class(values) if isinstance(values, dict) else TranslationConfig
            return _with_possible_ids(schema.model_validate(values), where=str(self.config_file))
        except ValidationError as error:
            raise explain(error, schema, origin=str(self.config_file), lines={}) from None
        except ValueError:
            raise ManyheadsError("the configuration is not valid JSON.", where=str(self.config_file)) from None
        except OSError as error:
            raise ManyheadsError(
                f"the configuration cannot be read: {error.strerror}.", where=str(self.config_file)
            ) from None

    def config_for(self, kind: type[C]) -> C:
        """Return what the model of one kind of task is built from; a model for another task is an error."""
        config = self.config()
        if isinstance(config, kind):
            return config
        raise self.other_purpose(config)

    def other_purpose(self, config: ConfigBase) -> ManyheadsError:
        """Return the error for a run that is used for something that its model cannot do."""
        purpose = (config.task or "encoding").replace("_", " ")
        return ManyheadsError(
            f"this run is a model for {purpose}, and cannot do that.",
            where=str(self.path),
            cure=f"Use it with: manyheads {config.verb} --model {shlex.quote(str(self.path))}",
        )

    def tokenizers(self) -> Tokenizers:
        """Return the tokenizers of both sides."""
        return Tokenizers.load(self.tokenizer_folder)

    def held_out(self) -> Cut | None:
        """Return the cut of the training data that the run was last started with; None if it cannot be read.

        Runs of version 0.1.0 have none. It can be made from the corpus at any time.
        """
        try:
            return Cut.model_validate_json(read_bytes(self.held_out_file, most=MOST_RECORDS))
        except (OSError, ValidationError, ManyheadsError):
            return None

    @property
    def is_older_than_cuts(self) -> bool:
        """Whether training was begun by a version that kept no cut of the training data."""
        return any(self.checkpoints.glob("step-*")) and not self.held_out_file.exists()

    def inputs(self) -> Inputs | None:
        """Return the files that the run read when it was last started; None if that is not known.

        Runs of version 0.1.0 have no such record.
        """
        from manyheads.runs.inputs import Inputs

        if not self.inputs_file.exists():
            return None
        try:
            return Inputs.model_validate_json(read_bytes(self.inputs_file, most=MOST_RECORDS))
        except (OSError, ValidationError):
            raise ManyheadsError("the record of what this run reads is damaged.", where=str(self.inputs_file)) from None

    def begin(self, recipe: RecipeBase) -> list[str]:
        """Make the folder and write the recipe, or check that the run there is one of this recipe.

        Returns the keys that differ from the run's recipe without making it another run. A recipe.yaml that says the
        same as the recipe stays as its user wrote it.
        """
        self._check_place()
        before = load_recipe(self.recipe_file) if self.recipe_file.exists() else None
        self.check_recipe(recipe)
        changed = sorted({*_changed_keys(before, recipe), *_changed_keys(self.begun_with(), recipe)})
        with explained(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.path, _WRITTEN)
            if recipe != before:
                write_file(self.recipe_file, recipe_text(recipe))  # first, since it is what makes a folder a run
            write_file(self.begun_file, recipe_text(recipe))
            self.checkpoints.mkdir(exist_ok=True)
            remove_leftovers(self.checkpoints, _CHECKPOINT)
            cover(self.path)
        return changed

    def replace_recipe(self, recipe: RecipeBase, config: ConfigBase) -> None:
        """Write another recipe, with its configuration, before anything was learned; the recipe last, which counts."""
        assert not any(self.checkpoints.glob("step-*"))
        self.write_config(config)
        write_file(self.begun_file, recipe_text(recipe))
        write_file(self.recipe_file, recipe_text(recipe))

    def begun_with(self) -> Recipe | None:
        """Return the recipe that the run was last started with, whatever recipe.yaml says by now; None without a run.

        A run of version 0.1.0 has no record of it, so recipe.yaml is taken at its word.
        """
        file = next((one for one in (self.begun_file, self.recipe_file) if one.exists()), None)
        return None if file is None else load_recipe(file)

    def _check_place(self) -> None:
        """Refuse to begin in the place of something else."""
        if self.path.is_file():
            raise ManyheadsError(
                "this is a file, not a folder.", where=str(self.path), cure="Choose another with --out."
            )
        if self.recipe_file.exists() or not self.path.exists():
            return
        if self.begun_file.exists():  # which is written after the recipe
            warnings.warn(f"{self.recipe_file} is missing; it is written again.", Notice, stacklevel=4)
            return
        # A run that was killed while it wrote its recipe has a draft of that and nothing else.
        if set(self.path.iterdir()) - set(leftovers(self.path, _WRITTEN)):
            raise ManyheadsError(
                "this folder is not empty and not a run.", where=str(self.path), cure="Choose another with --out."
            )

    @property
    def has_learned(self) -> bool:
        """Whether there is a checkpoint."""
        return any(self.checkpoints.glob("step-*"))

    def write_tokenizers(self, tokenizers: Tokenizers) -> None:
        """Write the tokenizers' files, all or none."""
        self.write_tokenizer_files(tokenizers.files())

    def write_tokenizer_files(self, files: Mapping[str, bytes]) -> None:
        """Write the files of a tokenizer by name, all or none."""
        with (
            covered(self.path, {f"{TOKENIZER}/{name}": content for name, content in files.items()}),
            new_folder(self.tokenizer_folder) as draft,
        ):
            for name, content in files.items():
                (draft / name).write_bytes(content)

    def write_held_out(self, cut: Cut) -> None:
        """Write which pairs are cut off the training data for validation."""
        self._write(self.held_out_file, cut.model_dump_json(indent=1) + "\n")

    def write_inputs(self, inputs: Inputs) -> None:
        """Write the fingerprints of the files that the run reads."""
        self._write(self.inputs_file, inputs.model_dump_json(indent=1) + "\n")

    def write_config(self, config: ConfigBase) -> None:
        """Write what the model is built from."""
        self._write(self.config_file, config.model_dump_json(indent=2) + "\n")

    def write_weights(self, content: bytes) -> None:
        """Write the weights that translate."""
        self._write(self.weights_file, content)

    def make_data_again(self) -> None:
        """Remove what was made of data that changed before anything was learned from it."""
        forget(self.path, TOKENIZER, HELD_OUT)
        remove_folder(self.tokenizer_folder)
        self.held_out_file.unlink(missing_ok=True)

    def _write(self, file: Path, content: str | bytes) -> None:
        """Replace a file whose checksum is kept."""
        raw = content.encode("utf-8") if isinstance(content, str) else content
        with covered(self.path, {file.name: raw}):
            write_file(file, raw)

    def check_recipe(self, recipe: RecipeBase) -> None:
        """Refuse to continue a run with a recipe that would have made another one."""
        other = [key for key in _changed_keys(self.begun_with(), recipe) if key.split(".")[0] not in CHANGEABLE]
        if other and self.has_learned:
            raise ManyheadsError(
                f"the run in this folder has another recipe; it differs in: {', '.join(other)}.",
                where=str(self.path),
                cure="Choose another folder with --out, or undo these changes.",
            )
        if other:  # nothing was learned yet, so a mistake in the recipe may simply be mended
            self.make_data_again()

    def metrics(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of metrics.jsonl; a line that is damaged, or was cut off by a crash, is passed over."""
        if not self.metrics_file.is_file():
            return
        for line in self.metrics_file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict) and isinstance(entry.get("step"), int):
                yield entry


def _with_possible_ids(config: ModelConfig, *, where: str) -> ModelConfig:
    """Return a configuration whose special tokens are in its vocabularies; other ids raise an error."""
    if beyond := config.ids_beyond():
        listed = ", ".join(f"'{key}' = {number:,}" for key, number in beyond.items())
        size = min(config.vocabulary_sizes)
        raise ManyheadsError(f"special tokens are beyond the vocabulary of {size:,} pieces: {listed}.", where=where)
    return config


def _changed_keys(before: RecipeBase | None, now: RecipeBase) -> list[str]:
    """Return the keys at which a recipe differs from the one before; none without one."""
    return [] if before is None else list(_differences(before.model_dump(mode="json"), now.model_dump(mode="json")))


def _differences(before: Any, now: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401
    """Yield the dotted keys at which two nested mappings differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            yield from _differences(before.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif before != now:
        yield path
