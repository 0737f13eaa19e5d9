"""The keys under `data` and `tokenizer`: the training data, and how it becomes tokens."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from manyheads.config.modify import ModifySettings
from manyheads.config.values import Natural, Number, Positive, Probability, Seed, Settings

LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2,8}(-[A-Za-z]+)*$")]


def _one_or_several(value: object) -> str:
    """Return which of two forms a value has. The brackets mark that it is not a key, for `messages`."""
    return "(several)" if isinstance(value, list | tuple) else "(one)"


def _some_weight(weights: tuple[float, ...]) -> tuple[float, ...]:
    """Raise an error if all weights are 0: such a corpus would never be read."""
    if not any(weights):
        raise ValueError("the weight must be greater than 0 in one of the stages")
    return weights


Weights = Annotated[
    Annotated[float, Number, Field(gt=0.0, allow_inf_nan=False), Tag("(one)")]
    | Annotated[
        tuple[Annotated[float, Number, Field(ge=0.0, allow_inf_nan=False)], ...],
        AfterValidator(_some_weight),
        Tag("(several)"),
    ],
    Discriminator(_one_or_several),
]
"""How often the pairs of a corpus are used: one weight, or one per stage."""


class CorpusSettings(Settings):
    """Where pairs come from: two parallel files, one file of pairs, a translation memory, or a generated task.

    A path is a file (also .gz, .xz or .zst) or a folder of files read in order of their names; it is relative to the
    current folder, or to the data folder (`MANYHEADS_DATA`, or ./data) if it starts with `data:`.
    """

    source: str | None = Field(None, description="Source text, one sentence per line: a file or a folder.")
    target: str | None = Field(None, description="Target text, line by line parallel to the source.")
    pairs: str | None = Field(None, description="A file or folder with both sides, instead of source and target.")
    format: Literal["auto", "tsv", "csv", "jsonl", "scan", "memories"] = Field(
        "auto",
        description="Format of `pairs`; scan: lines of SCAN; memories: TMX, XLIFF and PO files; auto: jsonl, "
        "memories or the archive of bAbI (.tar.gz) if names say so, tsv otherwise.",
    )
    source_column: int | str = Field(
        0, description="Column, from 0 or by its name, key (JSONL) or language (memories) of the source."
    )
    target_column: int | str = Field(
        1, description="Column, from 0 or by its name, key (JSONL) or language (memories) of the target."
    )
    header: bool = Field(False, description="Whether the first line of a TSV or CSV file has the names of the columns.")
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = Field(
        ",", description="What separates the columns of a CSV file."
    )
    keep: dict[int | str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Keep only the lines of `pairs` whose column (or key) has one of these values: {1: [cmn_Hans]}; "
        "of bAbI, tasks: {task: [qa1, qa2]}.",
    )
    task: str | None = Field(
        None,
        description="A generated task instead of files: dates, copy, reverse, sort, duplicate, addition, "
        "binary_addition, parity, recall, programs.",
    )
    count: Positive = Field(100_000, description="Number of pairs to generate.")
    seed: Seed = Field(1, description="Seed of the generated pairs.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the generated task.")
    weight: Weights = Field(
        1.0,
        description="How often its pairs are used in an epoch; a list has one number for each stage of "
        "`training.stages`, and 0 leaves the corpus out of a stage.",
    )
    source_language: str | None = Field(None, description="Language code of its sources, if corpora differ in it.")
    target_language: LanguageCode | None = Field(
        None,
        description="Language code of its targets; each source then begins with the tag <2code> for the model.",
    )
    both_ways: bool = Field(
        False, description="Also learn the other direction, from target to source; needs the languages of both sides."
    )
    lexicon: str | None = Field(
        None,
        description="Words and their translations in two columns, for `data.modify.tags` and `.terms`; "
        "'manyheads data lexicon' makes one.",
    )
    modified: bool = Field(True, description="Whether `data.modify` changes its pairs.")
    tag: str | None = Field(
        None,
        description="A token put before each source sentence of this corpus, such as <bt> for back-translated text.",
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        """Check that exactly one of the three origins is given."""
        parallel = self.source is not None or self.target is not None
        if parallel and (self.source is None or self.target is None):
            raise ValueError("source and target belong together: give both, or `pairs`, or `task`")
        if parallel + (self.pairs is not None) + (self.task is not None) != 1:
            raise ValueError("give exactly one of: source and target, pairs, task")
        return self

    @model_validator(mode="after")
    def _keep_has_lines(self) -> Self:
        """Check that `keep`, which selects lines by a column, is used with `pairs`."""
        if self.keep and self.pairs is None:
            raise ValueError("`keep` selects lines of `pairs`, which is not given")
        return self

    @model_validator(mode="after")
    def _tag_is_a_token(self) -> Self:
        """Check that a tag can be one token: no white space, and not a special token."""
        if self.tag is not None and (len(self.tag.split()) != 1 or self.tag != self.tag.strip()):
            raise ValueError(f"the tag {self.tag!r} must be one word, without white space")
        if self.tag in ("<pad>", "<unk>", "<s>", "</s>"):
            raise ValueError(f"the tag {self.tag} is a special token already: choose another")
        return self

    @model_validator(mode="after")
    def _both_ways_need_languages(self) -> Self:
        """Check that a corpus for both directions names both languages, since tags select the direction."""
        if self.both_ways and (self.source_language is None or self.target_language is None):
            raise ValueError("both_ways needs source_language and target_language, which distinguish the directions")
        if self.both_ways and self.task is not None:
            raise ValueError("both_ways is for files: a generated task has one direction")
        return self

    @property
    def directions(self) -> tuple[CorpusSettings, ...]:
        """The corpus in the directions in which it is read: one or both."""
        if not self.both_ways:
            return (self,)
        one_way = self.model_copy(update={"both_ways": False})
        return one_way, one_way.reversed

    @property
    def reversed(self) -> CorpusSettings:
        """The corpus in the other direction: what was the target is the source."""
        swapped = {
            "source": self.target,
            "target": self.source,
            "source_column": self.target_column,
            "target_column": self.source_column,
            "source_language": self.target_language,
            "target_language": self.source_language,
        }
        return self.model_copy(update=swapped)

    def weight_in(self, stage: int) -> float:
        """Return the weight in a stage of training, counted from 0."""
        return self.weight[stage] if isinstance(self.weight, tuple) else self.weight

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags before each of its sources: the target language, then its own tag."""
        language = None if self.target_language is None else language_tag(self.target_language)
        return tuple(tag for tag in (language, self.tag) if tag is not None)


def language_tag(code: str) -> str:
    """Return the token that selects the target language."""
    return f"<2{code}>"


def _plain_if_alone(value: CorpusSettings | tuple[CorpusSettings, ...]) -> CorpusSettings | tuple[CorpusSettings, ...]:
    """Turn a list of one corpus into that corpus, so that both forms are the same recipe."""
    if value == ():
        raise ValueError("name at least one corpus")
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


OneOrSeveral = Annotated[
    Annotated[CorpusSettings, Tag("(one)")] | Annotated[tuple[CorpusSettings, ...], Tag("(several)")],
    Discriminator(_one_or_several),
    AfterValidator(_plain_if_alone),
]


def _several(corpora: CorpusSettings | tuple[CorpusSettings, ...]) -> tuple[CorpusSettings, ...]:
    """Return one corpus or several as a tuple."""
    return corpora if isinstance(corpora, tuple) else (corpora,)


def _each_direction(corpora: CorpusSettings | tuple[CorpusSettings, ...]) -> tuple[CorpusSettings, ...]:
    """Return every corpus once for each direction in which it is read."""
    return tuple(direction for corpus in _several(corpora) for direction in corpus.directions)


class DataSettings(Settings):
    """The corpora of a run."""

    train: OneOrSeveral = Field(description="What the model learns from: one corpus, or a list of them.")
    valid: OneOrSeveral | None = Field(None, description="What its progress is measured on: one corpus, or a list.")
    held_out: Natural = Field(
        0, description="Pairs held out of the training data for validation if `valid` is missing."
    )
    max_length: Positive = Field(256, description="Longest sequence in tokens, on either side, that is trained on.")
    too_long: Literal["skip", "truncate", "stop"] = Field(
        "skip", description="What to do with a longer one: skip it (and say how many), truncate it, or stop."
    )
    modify: ModifySettings = Field(
        default_factory=ModifySettings, description="Changes to training pairs while they are read."
    )
    units: Literal["sentences", "documents"] = Field(
        "sentences", description="What a line contains, and so the unit in which running text is translated."
    )
    source_language: str | None = Field(None, description="Language code of the source, for the card and the server.")
    target_language: str | None = Field(None, description="Language code of the target.")

    @property
    def corpora(self) -> tuple[CorpusSettings, ...]:
        """The training corpora, one or several, with each direction of a corpus separate."""
        return _each_direction(self.train)

    @property
    def are_reversed(self) -> tuple[bool, ...]:
        """Whether each of `corpora` is the other direction of a corpus with `both_ways`."""
        return tuple(number > 0 for corpus in _several(self.train) for number in range(len(corpus.directions)))

    @property
    def valid_corpora(self) -> tuple[CorpusSettings, ...]:
        """The validation corpora: none, one or several, with each direction separate."""
        return () if self.valid is None else _each_direction(self.valid)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of all corpora, each once."""
        return tuple(dict.fromkeys(tag for corpus in (*self.corpora, *self.valid_corpora) for tag in corpus.tags))

    @property
    def directions(self) -> tuple[tuple[str | None, str], ...]:
        """The source and target languages of all corpora that name a target language, each pair once."""
        named = ((corpus.source_language or self.source_language, corpus.target_language) for corpus in self.corpora)
        return tuple(dict.fromkeys((source, target) for source, target in named if target is not None))


TokenizerKind = Literal["bpe", "unigram", "characters", "symbols"]


class TargetTokenizerSettings(Settings):
    """A separate tokenizer for the target side."""

    kind: TokenizerKind = Field("bpe", description="bpe, unigram, characters, or symbols between white space.")
    vocabulary: Positive | None = Field(
        None, description="Number of pieces; by default 8,000, or every character or symbol that occurs."
    )


class TokenizerSettings(Settings):
    """How text becomes tokens. Tokenizers are SentencePiece models, trained on the training data."""

    kind: TokenizerKind = Field("bpe", description="bpe, unigram, characters, or symbols between white space.")
    vocabulary: Positive | None = Field(
        None, description="Number of pieces; by default 8,000, or every character or symbol that occurs."
    )
    shared: bool = Field(True, description="One tokenizer for both sides.")
    target: TargetTokenizerSettings | None = Field(None, description="The target's own tokenizer, if it differs.")
    normalization: Literal["nmt_nfkc", "nfkc", "nfkc_simplified", "identity"] = Field(
        "nmt_nfkc",
        description=(
            "Unicode normalisation of the text before it is split into pieces; "
            "nfkc_simplified also writes traditional Chinese characters as simplified ones."
        ),
    )
    coverage: float = Field(1.0, gt=0.9, le=1.0, description="Share of the characters that get a piece of their own.")
    byte_fallback: bool = Field(False, description="Spell unknown characters as bytes instead of <unk>.")
    split_digits: bool = Field(
        False, description="Make each digit a piece of its own, so that numbers are read and copied digit by digit."
    )
    weighted: bool = Field(
        False,
        description="Learn the pieces from the corpora in the proportions of the first stage of training (size times "
        "weight) instead of from one sentence of each in turn.",
    )
    symbols: bool = Field(
        False,
        description="Keep the reserved symbols whole, which carry placeholders, inline tags and term hints through "
        "the model (docs/symbols.md).",
    )
    start: Literal["start", "end", "pad"] = Field(
        "start", description="The token a target begins with: <s>, </s> or <pad>."
    )
    sampling: Probability = Field(
        0.0,
        description=(
            "Subword sampling in training: the probability that a BPE merge is left out (BPE-dropout), "
            "or the α of unigram sampling (smaller values vary more); 0 always gives the same pieces."
        ),
    )

    @property
    def target_kind(self) -> TokenizerKind:
        """The kind of the target's tokenizer."""
        return self.target.kind if self.target else self.kind

    @model_validator(mode="after")
    def _target_needs_its_own(self) -> Self:
        """Check that there is no target tokenizer if the tokenizer is shared."""
        if self.shared and self.target is not None:
            raise ValueError("a shared tokenizer has no separate settings for the target: set shared to false")
        return self

    @model_validator(mode="after")
    def _symbols_stand_in_text(self) -> Self:
        """Check that symbols are not used with white-space tokens: a placeholder may touch other words."""
        if self.symbols and "symbols" in (self.kind, self.target_kind):
            raise ValueError("`symbols: true` is for text, not for a tokenizer of kind symbols")
        return self

    @model_validator(mode="after")
    def _sampling_needs_subwords(self) -> Self:
        """Check that sampling is used with subwords: characters and symbols can spell a text in one way only."""
        if self.sampling and not {"bpe", "unigram"} & {self.kind, self.target_kind}:
            raise ValueError(
                f"sampling needs subwords (kind: bpe or unigram); {self.kind} can be split in one way only"
            )
        return self
