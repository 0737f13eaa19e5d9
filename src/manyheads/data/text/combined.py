"""Corpora made of others: with a tag, several together, or a weighted sample of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manyheads.data.text.corpora import Corpus
from manyheads.data.text.records import Pair


class Tagged(Corpus):
    """A corpus with a tag before each source sentence, which identifies the corpus to the model."""

    def __init__(self, whole: Corpus, tag: str) -> None:
        self.whole = whole
        self.tag = tag

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs with the tag; an empty source stays empty."""
        return (pair for _, pair in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Pair]]:
        """Yield these pairs with their line numbers."""
        for number, pair in self.whole.numbered():
            yield number, Pair(f"{self.tag} {pair.source}" if pair.source.strip() else "", pair.target)

    def count(self) -> int:
        """Return the number of pairs of the untagged corpus."""
        return self.whole.count()

    def remarks(self) -> list[str]:
        """Return the remarks on the untagged corpus."""
        return self.whole.remarks()

    def key(self) -> str:
        """Return the tag and the key of the untagged corpus."""
        return f"tagged {self.tag} {self.whole.key()}"

    def origin(self) -> str:
        """Return the origin of the untagged corpus, and the tag."""
        return f"{self.whole.origin()} (tagged {self.tag})"


def tagged(corpus: Corpus, tags: Sequence[str]) -> Corpus:
    """Return the corpus with its tags, if it has any."""
    return Tagged(corpus, " ".join(tags)) if tags else corpus


class Together(Corpus):
    """Several corpora as one, interleaved, so that the beginning has pairs of each."""

    def __init__(self, corpora: Sequence[Corpus]) -> None:
        self.corpora = tuple(corpora)

    def pairs(self) -> Iterator[Pair]:
        """Yield a pair of each corpus in turn, until all are exhausted."""
        remaining = [corpus.pairs() for corpus in self.corpora]
        while remaining:
            for pairs in list(remaining):
                pair = next(pairs, None)
                if pair is None:
                    remaining.remove(pairs)
                else:
                    yield pair

    def key(self) -> str:
        """Return the keys of all corpora."""
        return " and ".join(corpus.key() for corpus in self.corpora)

    def origin(self) -> str:
        """Return the origins of all corpora."""
        return "; ".join(corpus.origin() for corpus in self.corpora)


class Weighted(Corpus):
    """A sample of several corpora, each in proportion to its size times its weight."""

    def __init__(self, corpora: Sequence[Corpus], weights: Sequence[float], *, most: int) -> None:
        """Sample at most `most` pairs; pairs of a corpus with a large weight may occur several times."""
        self.corpora, self.weights, self.most = tuple(corpora), tuple(weights), most

    def pairs(self) -> Iterator[Pair]:
        """Yield evenly spaced pairs, corpus by corpus."""
        total = sum(weight * corpus.count() for corpus, weight in zip(self.corpora, self.weights, strict=True))
        scale = min(1.0, self.most / max(1.0, total))
        for corpus, weight in zip(self.corpora, self.weights, strict=True):
            for number, pair in enumerate(corpus.pairs()):
                times = int((number + 1) * weight * scale) - int(number * weight * scale)
                yield from (pair for _ in range(times))

    def key(self) -> str:
        """Return the keys of all corpora with their weights."""
        rows = zip(self.weights, self.corpora, strict=True)
        return f"at most {self.most} of " + " and ".join(f"{weight} × {corpus.key()}" for weight, corpus in rows)

    def origin(self) -> str:
        """Return the origins of all corpora."""
        return together(self.corpora).origin()


def together(corpora: Sequence[Corpus]) -> Corpus:
    """Return several corpora as one."""
    return corpora[0] if len(corpora) == 1 else Together(corpora)
