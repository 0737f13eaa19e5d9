"""Every key a recipe may have: type, default and one line of explanation.

`--help`, the template of `manyheads recipe new` and the reference page are generated from these descriptions.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)


def _no_truth_value(value: object) -> object:
    """Refuse true and false where a number is wanted: YAML reads yes and on as true, and Python reads true as 1."""
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not yes or no")
    return value


def _switch(value: object) -> object:
    """Take YAML's word for on and off, which it reads as true and false, as it was written."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Number = BeforeValidator(_no_truth_value)
Switch = Annotated[Literal["auto", "on", "off"], BeforeValidator(_switch)]
Positive = Annotated[int, Number, Field(ge=1)]
Natural = Annotated[int, Number, Field(ge=0)]
Probability = Annotated[float, Number, Field(ge=0.0, lt=1.0)]
Metric = Literal["loss", "bleu", "chrf", "exact_match", "word_error_rate", "symbol_error_rate"]


class Settings(BaseModel):
    """The base of every section: unknown keys are refused and values never change after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2,8}(-[A-Za-z]+)*$")]


class CorpusSettings(Settings):
    """Where pairs come from: two parallel files, one file of pairs, or a generated task.

    A path is a file (also .gz) or a folder of files read in order of their names; it is relative to the current folder,
    or to the data folder (`MANYHEADS_DATA`, or ./data) if it starts with `data:`.
    """

    source: str | None = Field(None, description="Source text, one sentence per line: a file or a folder.")
    target: str | None = Field(None, description="Target text, line by line parallel to the source.")
    pairs: str | None = Field(None, description="A file or folder with both sides, instead of source and target.")
    format: Literal["auto", "tsv", "jsonl"] = Field("auto", description="Format of `pairs`; auto looks at the name.")
    source_column: int | str = Field(0, description="Column (TSV, from 0) or key (JSONL) of the source.")
    target_column: int | str = Field(1, description="Column (TSV, from 0) or key (JSONL) of the target.")
    keep: dict[int | str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Keep only the lines of `pairs` whose column (or key) has one of these values: {1: [cmn_Hans]}.",
    )
    task: str | None = Field(
        None, description="A generated task instead of files: dates, copy, reverse, sort, addition."
    )
    count: Positive = Field(100_000, description="Number of pairs to generate.")
    seed: int = Field(1, description="Seed of the generated pairs.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the generated task.")
    weight: Annotated[float, Number, Field(gt=0.0, allow_inf_nan=False)] = Field(
        1.0, description="How often its pairs are seen in an epoch, relative to once."
    )
    source_language: str | None = Field(None, description="Language code of its sources, where corpora differ in it.")
    target_language: LanguageCode | None = Field(
        None,
        description="Language code of its targets; the tag <2code> before each source then tells it to the model.",
    )
    tag: str | None = Field(
        None,
        description="A token put before each source sentence of this corpus, such as <bt> for back-translated text.",
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        """Exactly one of the three origins is named."""
        parallel = self.source is not None or self.target is not None
        if parallel and (self.source is None or self.target is None):
            raise ValueError("source and target belong together: give both, or `pairs`, or `task`")
        if parallel + (self.pairs is not None) + (self.task is not None) != 1:
            raise ValueError("give exactly one of: source and target, pairs, task")
        return self

    @model_validator(mode="after")
    def _keep_has_lines(self) -> Self:
        """Only lines with columns can be chosen by one."""
        if self.keep and self.pairs is None:
            raise ValueError("`keep` chooses lines of `pairs`, and there are none")
        return self

    @model_validator(mode="after")
    def _tag_is_a_token(self) -> Self:
        """A tag is one token of its own: no white space, and none of those that mean something else."""
        if self.tag is not None and (len(self.tag.split()) != 1 or self.tag != self.tag.strip()):
            raise ValueError(f"the tag {self.tag!r} must be one word, without white space")
        if self.tag in ("<pad>", "<unk>", "<s>", "</s>"):
            raise ValueError(f"the tag {self.tag} is a special token already: choose another")
        return self

    @property
    def tags(self) -> tuple[str, ...]:
        """What stands before each of its sources: the language to translate into, then its own tag."""
        language = None if self.target_language is None else language_tag(self.target_language)
        return tuple(tag for tag in (language, self.tag) if tag is not None)


def language_tag(code: str) -> str:
    """Return the token that tells a model which language to translate into."""
    return f"<2{code}>"


def _one_or_several(value: object) -> str:
    """Say which of its two forms `data.train` has. The brackets mark what is no key, for `messages`."""
    return "(several)" if isinstance(value, list | tuple) else "(one)"


def _plain_if_alone(value: CorpusSettings | tuple[CorpusSettings, ...]) -> CorpusSettings | tuple[CorpusSettings, ...]:
    """A list of one corpus is that corpus, so that both ways to write it are the same recipe."""
    if value == ():
        raise ValueError("name at least one corpus")
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


OneOrSeveral = Annotated[
    Annotated[CorpusSettings, Tag("(one)")] | Annotated[tuple[CorpusSettings, ...], Tag("(several)")],
    Discriminator(_one_or_several),
    AfterValidator(_plain_if_alone),
]


class DataSettings(Settings):
    """The corpora of a run."""

    train: OneOrSeveral = Field(description="What the model learns from: one corpus, or a list of them.")
    valid: OneOrSeveral | None = Field(None, description="What its progress is measured on: one corpus, or a list.")
    held_out: Natural = Field(0, description="Pairs cut off the training data for validation where `valid` is missing.")
    max_length: Positive = Field(256, description="Longest sequence in tokens, on either side, that is trained on.")
    too_long: Literal["skip", "truncate", "stop"] = Field(
        "skip", description="What to do with a longer one: skip it (and say how many), truncate it, or stop."
    )
    source_language: str | None = Field(None, description="Language code of the source, for the card and the server.")
    target_language: str | None = Field(None, description="Language code of the target.")

    @property
    def corpora(self) -> tuple[CorpusSettings, ...]:
        """The training corpora, be it one or several."""
        return self.train if isinstance(self.train, tuple) else (self.train,)

    @property
    def valid_corpora(self) -> tuple[CorpusSettings, ...]:
        """The validation corpora: none, one or several."""
        return self.valid if isinstance(self.valid, tuple) else () if self.valid is None else (self.valid,)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of all corpora, each once."""
        return tuple(dict.fromkeys(tag for corpus in (*self.corpora, *self.valid_corpora) for tag in corpus.tags))

    @property
    def directions(self) -> tuple[tuple[str | None, str], ...]:
        """The languages that corpora with a target language of their own go from and to, each pair once."""
        named = ((one.source_language or self.source_language, one.target_language) for one in self.corpora)
        return tuple(dict.fromkeys((source, target) for source, target in named if target is not None))


TokenizerKind = Literal["bpe", "unigram", "characters", "symbols"]


class TargetTokenizerSettings(Settings):
    """A tokenizer of the target side's own."""

    kind: TokenizerKind = Field("bpe", description="bpe, unigram, characters, or symbols between white space.")
    vocabulary: Positive | None = Field(
        None, description="Number of pieces; by default 8,000, or every character or symbol."
    )


class TokenizerSettings(Settings):
    """How text becomes tokens. Tokenizers are SentencePiece models, trained on the training data."""

    kind: TokenizerKind = Field("bpe", description="bpe, unigram, characters, or symbols between white space.")
    vocabulary: Positive | None = Field(
        None, description="Number of pieces; by default 8,000, or every character or symbol there is."
    )
    shared: bool = Field(True, description="One tokenizer for both sides.")
    target: TargetTokenizerSettings | None = Field(None, description="The target's own tokenizer, where it differs.")
    normalization: Literal["nmt_nfkc", "nfkc", "nfkc_simplified", "identity"] = Field(
        "nmt_nfkc",
        description=(
            "Unicode normalisation of the text before it is cut into pieces; "
            "nfkc_simplified also writes traditional Chinese characters as simplified ones."
        ),
    )
    coverage: float = Field(1.0, gt=0.9, le=1.0, description="Share of the characters that get a piece of their own.")
    byte_fallback: bool = Field(False, description="Spell unknown characters as bytes instead of <unk>.")
    start: Literal["start", "end", "pad"] = Field(
        "start", description="The token a target begins with: <s>, </s> or <pad>."
    )
    sampling: Probability = Field(
        0.0,
        description=(
            "Subword sampling in training: the probability that a BPE merge is left out (BPE-dropout), "
            "or the α of unigram sampling (the smaller, the freer); 0 always takes the same pieces."
        ),
    )

    @property
    def target_kind(self) -> TokenizerKind:
        """The kind of the target's tokenizer."""
        return self.target.kind if self.target else self.kind

    @model_validator(mode="after")
    def _target_needs_its_own(self) -> Self:
        """A target tokenizer contradicts a shared one."""
        if self.shared and self.target is not None:
            raise ValueError("a shared tokenizer has no settings of the target's own: set shared to false")
        return self

    @model_validator(mode="after")
    def _sampling_needs_subwords(self) -> Self:
        """Characters and symbols have one way to spell a text."""
        if self.sampling and not {"bpe", "unigram"} & {self.kind, self.target_kind}:
            raise ValueError(f"sampling needs subwords (kind: bpe or unigram); {self.kind} can be cut in one way only")
        return self


AttentionKind = Literal["dot_product", "window", "bigbird", "performer", "linformer", "hashing", "linear"]
ATTENTION_KEYS: dict[str, tuple[AttentionKind, ...]] = {
    "dropout": ("dot_product",),
    "window": ("window",),
    "dilation": ("window",),
    "global_tokens": ("window",),
    "block": ("bigbird",),
    "global_blocks": ("bigbird",),
    "random_blocks": ("bigbird",),
    "features": ("performer",),
    "redraw": ("performer",),
    "rank": ("linformer",),
    "length": ("linformer",),
    "shared": ("linformer",),
    "chunk": ("hashing",),
    "rounds": ("hashing",),
}
"""Which kinds of attention each key is for."""


class AttentionSettings(Settings):
    """The self-attention inside every head."""

    kind: AttentionKind = Field(
        "dot_product",
        description="dot_product (full, as in the paper), window, bigbird, performer, linformer, hashing or linear.",
    )
    dropout: Probability = Field(0.0, description="Of dot_product: dropout of the weights; the paper has none.")
    window: Positive = Field(128, description="Of window: how many keys are seen on each side.")
    dilation: Positive = Field(1, description="Of window: the step between keys that are seen.")
    global_tokens: Natural = Field(0, description="Of window: first tokens that see and are seen by everybody.")
    block: Positive = Field(64, description="Of bigbird: positions of a block.")
    global_blocks: Positive = Field(1, description="Of bigbird: first blocks that see and are seen by everybody.")
    random_blocks: Natural = Field(3, description="Of bigbird: blocks that each one sees at random.")
    features: Positive = Field(256, description="Of performer: random features.")
    redraw: Natural = Field(1000, description="Of performer: training steps between two draws of them; 0 for one draw.")
    rank: Positive = Field(128, description="Of linformer: keys that are left after projection.")
    length: Positive = Field(1024, description="Of linformer: longest sequence.")
    shared: bool = Field(True, description="Of linformer: one projection for all heads.")
    chunk: Positive = Field(64, description="Of hashing: positions of a chunk.")
    rounds: Positive = Field(2, description="Of hashing: independent hashes.")

    @model_validator(mode="after")
    def _keys_belong_to_the_kind(self) -> Self:
        """A key that the kind does not have would be without effect."""
        for key in sorted(self.model_fields_set):
            kinds = ATTENTION_KEYS.get(key, (self.kind,))
            if self.kind not in kinds and getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(f"`{key}` is for {' and '.join(kinds)} attention, not for {self.kind}")
        return self

    @model_validator(mode="after")
    def _rank_is_lower(self) -> Self:
        """A projection to more keys than there are saves nothing."""
        if self.kind == "linformer" and self.rank > self.length:
            raise ValueError(f"rank {self.rank} is above the length of {self.length} that it is to lower")
        return self

    @property
    def has_scores(self) -> bool:
        """Whether each query is compared with each key by itself, so that a distance can be added to the score."""
        return self.kind in ("dot_product", "window", "bigbird")


class PositionSettings(Settings):
    """How the model knows where a token stands."""

    kind: Literal["sinusoidal", "learned", "relative", "t5", "rotary", "alibi"] = Field(
        "sinusoidal", description="sinusoidal (the paper's) or learned; or by distance: relative, t5, rotary, alibi."
    )
    maximum: Positive = Field(1024, description="Longest sequence for learned positions.")
    clip: Positive = Field(16, description="For relative: the distance beyond which all are alike.")
    buckets: Annotated[int, Number, Field(ge=4)] = Field(32, description="For t5: numbers learned by each head.")
    reach: Positive = Field(128, description="For t5: the distance beyond which all are alike.")

    @property
    def absolute(self) -> bool:
        """Whether they are added to the embeddings."""
        return self.kind in ("sinusoidal", "learned")

    @model_validator(mode="after")
    def _reach_is_far(self) -> Self:
        """The wide buckets begin where the exact ones end."""
        if self.kind == "t5" and self.reach <= self.buckets // 2:
            raise ValueError(f"reach {self.reach} must be above half of the {self.buckets} buckets")
        return self


class VectorSettings(Settings):
    """Pretrained word vectors for the embeddings (word2vec text or binary, GloVe)."""

    source: str | None = Field(None, description="Vectors of the source side (of both, where embeddings are tied).")
    target: str | None = Field(None, description="Vectors of the target side.")
    freeze: bool = Field(False, description="Keep embeddings that were loaded as they are instead of fine-tuning them.")


class ModelSettings(Settings):
    """The model."""

    kind: Literal["transformer"] = Field("transformer", description="transformer: the paper's encoder–decoder.")
    preset: Literal["tiny", "small", "base", "big"] | None = Field(
        None,
        description="Sizes to start from: tiny, small, base or big; keys given here replace the preset's.",
    )
    width: Positive = Field(512, description="d_model, the width of every layer.")
    heads: Positive = Field(8, description="h, the number of attention heads; the width must be divisible by it.")
    encoder_layers: Positive = Field(6, description="Layers of the encoder.")
    decoder_layers: Positive = Field(6, description="Layers of the decoder.")
    feed_forward: Positive = Field(2048, description="d_ff, the inner width of the feed-forward networks.")
    dropout: Probability = Field(0.1, description="Dropout of every sublayer's output and of the embeddings.")
    activation: Literal["relu", "gelu", "swish"] = Field("relu", description="Activation of the feed-forward networks.")
    norm: Literal["post", "pre"] = Field("post", description="LayerNorm after each residual sum (the paper) or before.")
    tie: Literal["all", "target", "none"] = Field(
        "all",
        description="Shared embeddings: source, target and output (all), target and output (target), or none.",
    )
    output_bias: bool = Field(False, description="A bias in the output layer.")
    attention: AttentionSettings = Field(
        default_factory=AttentionSettings, description="The self-attention in every head."
    )
    decoder_attention: AttentionSettings | None = Field(
        None, description="The decoder's self-attention, where it is another than the encoder's."
    )
    positions: PositionSettings = Field(default_factory=PositionSettings, description="The positional encodings.")
    vectors: VectorSettings | None = Field(None, description="Pretrained word vectors.")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        """d_k = d_model / h must be whole."""
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by {self.heads} heads")
        return self

    @property
    def attention_of_decoder(self) -> AttentionSettings:
        """The decoder's self-attention."""
        return self.decoder_attention or self.attention

    @model_validator(mode="after")
    def _decoder_looks_back(self) -> Self:
        """Some attention cannot help seeing the future."""
        if self.attention_of_decoder.kind == "linformer":
            raise ValueError(
                "linformer mixes all positions, the future included, so a decoder cannot have it: "
                "set decoder_attention: {kind: dot_product}"
            )
        return self

    @model_validator(mode="after")
    def _distances_need_scores(self) -> Self:
        """A term of the distance needs a score of its own for each query and key."""
        for attention in (self.attention, self.attention_of_decoder):
            if self.positions.kind in ("relative", "t5", "alibi") and not attention.has_scores:
                reason = {
                    "linformer": "compares queries with mixtures of keys, which stand nowhere",
                    "hashing": "sorts keys by what they are, and knows no order among them",
                }.get(attention.kind, "never computes a score of one query and one key")
                raise ValueError(
                    f"{self.positions.kind} positions add to each score, but {attention.kind} attention {reason}: "
                    "use rotary, sinusoidal or learned positions"
                )
        return self

    @model_validator(mode="after")
    def _rotary_turns_pairs(self) -> Self:
        """A rotation takes two numbers."""
        if self.positions.kind == "rotary" and self.width // self.heads % 2:
            raise ValueError(f"rotary positions need heads of an even width, not {self.width // self.heads}")
        return self


class ScheduleSettings(Settings):
    """How the learning rate rises and falls."""

    kind: Literal["paper", "inverse_sqrt", "cosine", "linear", "constant"] = Field(
        "paper",
        description="paper: d_model^-0.5 · min(step^-0.5, step · warmup^-1.5); the others start from `rate`.",
    )
    warmup: Natural = Field(4000, description="Steps in which the rate rises from zero.")
    rate: float = Field(1.0, gt=0.0, description="Peak rate; for `paper`, a factor on the formula.")
    floor: float = Field(0.0, ge=0.0, description="Rate at the end of cosine and linear, as a share of the peak.")


class TrainingSettings(Settings):
    """How the model learns."""

    steps: Positive = Field(100_000, description="Number of updates.")
    batch_tokens: Positive = Field(4096, description="Padded tokens in a batch, on its longer side.")
    accumulate: Positive = Field(1, description="Batches per update.")
    label_smoothing: Probability = Field(0.1, description="ε: 1−ε on the true token, ε/(K−1) on every other.")
    schedule: ScheduleSettings = Field(default_factory=ScheduleSettings, description="The learning rate over time.")
    optimiser: Literal["adam", "muon"] = Field(
        "adam",
        description="adam, or muon: the matrices inside the layers move by orthogonal updates; all else is Adam's.",
    )
    momentum: Probability = Field(0.95, description="Muon's μ.")
    betas: tuple[float, float] = Field((0.9, 0.98), description="Adam's β₁ and β₂.")
    epsilon: float = Field(1e-9, gt=0.0, description="Adam's ε.")
    weight_decay: float = Field(0.0, ge=0.0, description="Decoupled weight decay.")
    clip_norm: float = Field(0.0, ge=0.0, description="Largest norm of an update's gradient; 0 does not clip.")
    log_every: Positive = Field(50, description="Steps between two lines of the log.")
    checkpoint_every: Positive = Field(500, description="Steps between two checkpoints.")
    keep_checkpoints: Positive = Field(3, description="Newest checkpoints that are kept; the best one always is.")
    average: Literal["none", "last", "best"] = Field(
        "none",
        description="Publish the mean of the last or of the best checkpoints, if it scores better than the best one.",
    )
    average_checkpoints: Positive = Field(5, description="How many checkpoints are averaged.")
    threads: Natural = Field(0, description="Processor threads; 0 takes every core.")
    moving_average: Probability = Field(
        0.0,
        description="Publish the exponential moving average of the weights, with this decay such as 0.999; 0: none.",
    )
    sharding: Literal["none", "full"] = Field(
        "none",
        description="Under torchrun: every process holds the whole model (none) or a share of it (full, FSDP).",
    )
    r_drop: Annotated[float, Number] = Field(
        0.0,
        ge=0.0,
        description="α of R-Drop: every batch is seen twice under different dropout, and the two predictions are drawn "
        "together by α times their symmetric KL divergence; needs the time and memory of a batch twice as large. "
        "0 sees it once.",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="Type of the factors in matrix products; auto takes bfloat16 on CUDA where it is supported, and "
        "float32 elsewhere. Weights and optimiser are always float32.",
    )
    compile: Switch = Field(
        "auto", description="Compile the model before training: on, off, or auto: on CUDA if the run is long enough."
    )

    @model_validator(mode="after")
    def _muon_needs_whole_matrices(self) -> Self:
        """A share of a matrix cannot be made orthogonal alone."""
        if self.optimiser == "muon" and self.sharding == "full":
            raise ValueError("muon needs whole matrices, and sharding: full cuts them: set optimiser: adam")
        return self

    @model_validator(mode="after")
    def _one_average(self) -> Self:
        """A mean of checkpoints and a moving average are two ways to the same end."""
        if self.moving_average and self.average != "none":
            raise ValueError("average and moving_average exclude each other: set one of them")
        return self


class ValidationSettings(Settings):
    """How progress is measured."""

    every: Positive = Field(500, description="Steps between two validations.")
    metric: Metric = Field("bleu", description="What decides which model is best, and when to stop early.")
    sentences: Positive = Field(1000, description="Validation sentences that are translated for the metric.")
    batch_sentences: Positive = Field(64, description="Sentences translated at once.")
    patience: Natural = Field(
        0, description="Validations without a better score before training stops; 0 never stops early."
    )
    samples: Natural = Field(2, description="Sample outputs shown at each validation.")
    lowercase: bool = Field(False, description="Ignore case in BLEU and chrF.")
    bleu_tokenizer: Literal["13a", "none", "char", "zh", "intl"] = Field(
        "13a", description="sacreBLEU's tokenizer; none for text that is tokenised already."
    )


class DecodingSettings(Settings):
    """How translations are searched for."""

    beam: Positive = Field(4, description="Hypotheses kept at each step; 1 is greedy.")
    length_penalty: float = Field(0.6, ge=0.0, description="α in the paper's ((5 + |y|) / 6)^α.")
    extra_length: Natural = Field(50, description="A translation may be this much longer than its source, in tokens.")
    no_repeat_ngram: Natural = Field(0, description="Forbid repeating any run of this many tokens; 0 allows it.")


class Recipe(Settings):
    """Everything that decides what a run becomes."""

    name: str = Field("run", description="A name for tables and cards.")
    task: Literal["translation"] = Field("translation", description="What is learned: one sequence into another.")
    seed: int = Field(1, description="Seed of everything random: weights, order of the data, dropout.")
    data: DataSettings = Field(description="The corpora.")
    tokenizer: TokenizerSettings = Field(default_factory=TokenizerSettings, description="How text becomes tokens.")
    model: ModelSettings = Field(default_factory=ModelSettings, description="The model.")
    training: TrainingSettings = Field(default_factory=TrainingSettings, description="How it learns.")
    validation: ValidationSettings = Field(default_factory=ValidationSettings, description="How progress is measured.")
    decoding: DecodingSettings = Field(
        default_factory=DecodingSettings, description="How translations are searched for."
    )
    start_from: str | None = Field(
        None, description="A run folder whose tokenizers and weights this run starts from (fine-tuning)."
    )

    @property
    def metric(self) -> Metric:
        """The metric that decides."""
        return self.validation.metric

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        """Three-way tying needs one vocabulary for both sides."""
        if self.model.tie == "all" and not self.tokenizer.shared:
            raise ValueError(
                "model.tie: all needs tokenizer.shared: true; with a tokenizer per side use tie: target or none"
            )
        return self


class ModelConfig(Settings):
    """What is needed to rebuild a trained model: its settings, its vocabularies and its special tokens."""

    model: ModelSettings
    source_vocabulary: Positive
    target_vocabulary: Positive
    pad: Natural = 0
    unknown: Natural = 1
    start: Natural = 2
    end: Natural = 3
