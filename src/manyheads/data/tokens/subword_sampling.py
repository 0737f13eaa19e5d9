"""Subword sampling: a different segmentation of the same text each time, which teaches how words are composed.

BPE-dropout (Provilkov et al., 2020, algorithm 1): a word starts as characters; of the merges that are possible each is
left out with probability p, the best of the rest is applied, and so on until none is left. Unigram sampling (Kudo,
2018): a segmentation x is drawn with probability proportional to P(x)^α.

SentencePiece samples too, but each process seeds its generator differently, so a run could not be resumed exactly. Here
whole batches are cut at once, and the result depends on the given generator only. Pieces never cross a space, so the
units that are cut are words.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyheads.config.corpora import TokenizerKind, TokenizerSettings
from manyheads.data.batches.store import Side
from manyheads.data.tokens.tokenizers import END, SPACE, UNKNOWN, Tokenizer, Tokenizers

_NEVER = np.iinfo(np.int64).max
Ids = NDArray[np.int64]


class SubwordSampler(ABC):
    """Cuts texts that are given as pieces into other pieces that spell the same text."""

    def __init__(self, spellings: list[list[int]], begins_word: list[bool]) -> None:
        """Take the letters of each piece, as numbers of the sampler's choice, and whether each piece begins a word."""
        lengths = np.array([len(letters) for letters in spellings], dtype=np.int64)
        self._lengths = lengths
        self._starts = np.r_[0, lengths.cumsum()[:-1]]
        self._letters = np.array([letter for letters in spellings for letter in letters], dtype=np.int64)
        self._begins_word = np.array(begins_word)

    def __call__(self, ids: Ids, rows: Ids, random: np.random.Generator) -> tuple[Ids, Ids]:
        """Resample the pieces [N] of sentences, given each piece's row [N]; return the new pieces and their rows."""
        if len(ids) == 0:
            return ids, rows
        lengths = self._lengths[ids]
        ends = lengths.cumsum()
        within = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        letters = self._letters[np.repeat(self._starts[ids], lengths) + within]
        begins = self._begins_word[ids] | np.r_[True, rows[1:] != rows[:-1]]
        words = (np.repeat(begins, lengths) & (within == 0)).cumsum() - 1
        pieces, places = self._cut(letters, words, random)
        return pieces, np.repeat(rows, lengths)[places]

    @abstractmethod
    def _cut(self, letters: Ids, words: Ids, random: np.random.Generator) -> tuple[Ids, Ids]:
        """Cut words, given as letters [N] and the number of each letter's word [N], into pieces.

        Returns the pieces in order, and where among the letters each begins.
        """


class BpeDropout(SubwordSampler):
    """Merges letters as BPE does, but leaves out each possible merge with a given probability."""

    def __init__(self, tokenizer: Tokenizer, dropout: float, *, whole: Collection[str] = ()) -> None:
        pieces = tokenizer.vocabulary()
        numbers = {piece: number for number, piece in enumerate(pieces) if not tokenizer.is_special(number)}
        for piece in whole:
            numbers.pop(piece, None)
        spellings = [
            [numbers[letter] for letter in piece] if piece in numbers and all(c in numbers for c in piece) else [number]
            for number, piece in enumerate(pieces)
        ]
        super().__init__(spellings, [piece.startswith(SPACE) for piece in pieces])
        self._dropout = dropout
        self._ranks = np.argsort(np.argsort([-score for score in tokenizer.scores()], kind="stable"), kind="stable")
        self._vocabulary = len(pieces)
        merges = sorted(
            (numbers[piece[:cut]] * len(pieces) + numbers[piece[cut:]], number)
            for piece, number in numbers.items()
            for cut in range(1, len(piece))
            if piece[:cut] in numbers and piece[cut:] in numbers
        )
        # The last entry equals no pair, so that every search ends inside the array.
        self._pairs = np.array([*(pair for pair, _ in merges), _NEVER], dtype=np.int64)
        self._merged = np.array([*(number for _, number in merges), 0], dtype=np.int64)

    def _cut(self, letters: Ids, words: Ids, random: np.random.Generator) -> tuple[Ids, Ids]:
        """Apply one merge in every word at a time, until every word has none left that was not dropped."""
        result = np.full(len(letters), -1, dtype=np.int64)
        places = np.arange(len(letters))
        ranks, merged = self._merges(letters, words, places)
        while len(letters):
            drawn = np.where(random.random(len(ranks)) < self._dropout, _NEVER, ranks)
            starts = np.flatnonzero(np.r_[True, words[1:] != words[:-1]])
            sizes = np.diff(np.r_[starts, len(words)])
            best = np.repeat(np.minimum.reduceat(drawn, starts), sizes)
            going = best < _NEVER
            result[places[~going]] = letters[~going]
            chosen = np.flatnonzero((drawn == best) & going)
            chosen = chosen[np.r_[True, np.diff(words[chosen]) != 0][: len(chosen)]]  # of equal ones the leftmost
            letters[chosen] = merged[chosen]
            stays = going
            stays[chosen + 1] = False
            letters, words, places, ranks, merged = (part[stays] for part in (letters, words, places, ranks, merged))
            # Only letters beside a merge have new neighbours.
            renewed = (np.cumsum(stays) - 1)[chosen]
            renewed = np.r_[renewed[renewed > 0] - 1, renewed]
            ranks[renewed], merged[renewed] = self._merges(letters, words, renewed)
        found = np.flatnonzero(result >= 0)
        return result[found], found

    def _merges(self, letters: Ids, words: Ids, at: Ids) -> tuple[Ids, Ids]:
        """Return the rank of merging the letters at given places with the next ones, and the merged pieces."""
        behind = np.minimum(at + 1, len(letters) - 1)
        pairs = letters[at] * self._vocabulary + letters[behind]
        entry = np.searchsorted(self._pairs, pairs)
        merged = self._merged[entry]
        possible = (self._pairs[entry] == pairs) & (words[at] == words[behind]) & (behind > at)
        return np.where(possible, self._ranks[merged], _NEVER), merged


class UnigramSampling(SubwordSampler):
    """Draws segmentations with probability proportional to P(x)^α."""

    def __init__(self, tokenizer: Tokenizer, alpha: float, *, whole: Collection[str] = ()) -> None:
        pieces = tokenizer.vocabulary()
        divisible = [not tokenizer.is_special(number) and piece not in whole for number, piece in enumerate(pieces)]
        alphabet = {letter for piece, may in zip(pieces, divisible, strict=True) if may for letter in piece}
        letters = {letter: number for number, letter in enumerate(sorted(alphabet), start=len(pieces))}
        # A piece that is never cut is a letter by itself, with the piece's number.
        spellings = [
            [letters[letter] for letter in piece] if may else [number]
            for number, (piece, may) in enumerate(zip(pieces, divisible, strict=True))
        ]
        super().__init__(spellings, [piece.startswith(SPACE) for piece in pieces])
        self._weights = alpha * np.array(tokenizer.scores())
        self._grow(spellings, len(pieces) + len(letters))

    def _grow(self, spellings: Iterable[list[int]], letters: int) -> None:
        """Build the prefix tree of the pieces: (node, letter) → node, and the piece that each node spells."""
        self._alphabet = letters
        nodes: dict[int, int] = {}
        spelled = [-1]
        for number, spelling in enumerate(spellings):
            node = 0
            for letter in spelling:
                step = node * letters + letter
                if step not in nodes:
                    nodes[step] = len(spelled)
                    spelled.append(-1)
                node = nodes[step]
            spelled[node] = number
        steps = sorted(nodes)
        self._steps = np.array([*steps, _NEVER], dtype=np.int64)
        self._nodes = np.array([*(nodes[step] for step in steps), 0], dtype=np.int64)
        self._spelled = np.array(spelled, dtype=np.int64)

    def _cut(self, letters: Ids, words: Ids, random: np.random.Generator) -> tuple[Ids, Ids]:
        """Draw for every place which piece would end there, then follow each word from its end to its beginning."""
        begins, ends, pieces = self._edges(letters, words)
        chances = self._chances(begins, ends, pieces, words)
        # One draw for each end: the piece whose share of the cumulated chances it falls into.
        cumulated = chances.cumsum()
        first = np.flatnonzero(np.r_[True, ends[1:] != ends[:-1]])
        before = np.r_[0.0, cumulated][first]
        total = np.add.reduceat(chances, first)
        drawn = np.searchsorted(cumulated, before + random.random(len(first)) * total, side="right")
        edge = np.clip(drawn, first, np.r_[first[1:], len(ends)] - 1)
        arriving = np.full(len(letters) + 1, -1, dtype=np.int64)
        arriving[ends[first]] = edge
        result = np.full(len(letters), -1, dtype=np.int64)
        starts = np.flatnonzero(np.r_[True, words[1:] != words[:-1]])
        place, start = np.r_[starts[1:], len(letters)], starts
        while len(place):
            taken = arriving[place]
            place = begins[taken]
            result[place] = pieces[taken]
            place, start = place[place > start], start[place > start]
        found = np.flatnonzero(result >= 0)
        return result[found], found

    def _edges(self, letters: Ids, words: Ids) -> tuple[Ids, Ids, Ids]:
        """Return every piece that occurs in the words: where it begins, where it ends, which it is; ordered by end."""
        begins, nodes = np.arange(len(letters)), np.zeros(len(letters), dtype=np.int64)
        found: list[tuple[Ids, Ids, Ids]] = []
        length = 0
        while len(begins):
            inside = begins + length < len(letters)
            begins, nodes = begins[inside], nodes[inside]
            same = words[begins + length] == words[begins]
            begins, nodes = begins[same], nodes[same]
            steps = nodes * self._alphabet + letters[begins + length]
            at = np.searchsorted(self._steps, steps)
            known = self._steps[at] == steps
            begins, nodes = begins[known], self._nodes[at[known]]
            length += 1
            spelled = self._spelled[nodes]
            piece = spelled >= 0
            found.append((begins[piece], begins[piece] + length, spelled[piece]))
        all_begins, all_ends, all_pieces = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.argsort(all_ends, kind="stable")
        return all_begins[order], all_ends[order], all_pieces[order]

    def _chances(self, begins: Ids, ends: Ids, pieces: Ids, words: Ids) -> NDArray[np.float64]:
        """Return how likely each edge is among those with the same end, by the forward sums, all words at once."""
        place = np.arange(len(words)) - np.searchsorted(words, words)  # of each letter in its word
        waves = place[ends - 1]  # all edges that end at the same place of their words are summed together
        weights = self._weights[pieces]
        sums = np.zeros(len(words) + 1)  # log of the sum over all ways from the word's beginning to here
        chances = np.empty(len(ends))
        order = np.argsort(waves, kind="stable")
        for wave in np.split(order, np.flatnonzero(np.diff(waves[order])) + 1):
            first = np.flatnonzero(np.r_[True, np.diff(ends[wave]) != 0])
            sizes = np.diff(np.r_[first, len(wave)])
            logs = weights[wave] + np.where(place[begins[wave]] == 0, 0.0, sums[begins[wave]])
            largest = np.maximum.reduceat(logs, first)
            parts = np.exp(logs - np.repeat(largest, sizes))
            total = np.add.reduceat(parts, first)
            sums[ends[wave][first]] = largest + np.log(total)
            chances[wave] = parts / np.repeat(total, sizes)
        return chances


@dataclass(frozen=True)
class Resampling:
    """Resamples the pieces of one side of a batch."""

    sampler: SubwordSampler
    longest: int  # in pieces, without the end token

    def __call__(self, ids: Ids, lengths: Ids, *, padding: int, seed: tuple[object, ...]) -> tuple[Ids, Ids]:
        """Return other ids [B, S] and lengths [B] that spell the same texts, drawn with the seed.

        A row is unchanged if it has unknown pieces, whose text is lost, or if it would become too long.
        """
        text = np.arange(ids.shape[1]) < lengths[:, None] - 1  # all but the end token
        text &= ~((ids == UNKNOWN) & text).any(axis=1)[:, None]
        pieces, rows = self.sampler(ids[text], np.nonzero(text)[0], _generator(seed))
        counts = np.bincount(rows, minlength=len(ids))
        renewed = (counts > 0) & (counts <= self.longest)
        lengths = np.where(renewed, counts + 1, lengths)
        columns = np.arange(lengths.max())
        result = np.full((len(ids), len(columns)), padding, dtype=np.int64)
        kept = min(len(columns), ids.shape[1])
        result[~renewed, :kept] = ids[~renewed, :kept]
        result[(columns < counts[:, None]) & renewed[:, None]] = pieces[renewed[rows]]
        result[renewed, counts[renewed]] = END
        return result, lengths


def _generator(seed: tuple[object, ...]) -> np.random.Generator:
    """Return a generator that depends on the seed alone: not on the machine, not on the process."""
    digest = hashlib.blake2b(repr(seed).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def resampling(
    tokenizers: Tokenizers, settings: TokenizerSettings, *, longest: int, whole: Collection[str] = ()
) -> dict[Side, Resampling]:
    """Return the resampling of each side that the settings specify; `whole` are pieces that are never cut.

    Characters and symbols can spell a text in one way only, so a side with these is not resampled.
    """
    if settings.sampling == 0.0:
        return {}
    source = _sampler(tokenizers.source, settings.kind, settings.sampling, whole)
    target = source if tokenizers.shared else _sampler(tokenizers.target, settings.target_kind, settings.sampling, ())
    both: tuple[tuple[Side, SubwordSampler | None], ...] = (("source", source), ("target", target))
    return {side: Resampling(sampler, longest) for side, sampler in both if sampler is not None}


def _sampler(tokenizer: Tokenizer, kind: TokenizerKind, amount: float, whole: Collection[str]) -> SubwordSampler | None:
    """Return the sampler for a tokenizer, or None if its pieces can spell a text in one way only."""
    if kind == "bpe":
        return BpeDropout(tokenizer, amount, whole=whole)
    if kind == "unigram":
        return UnigramSampling(tokenizer, amount, whole=whole)
    return None
