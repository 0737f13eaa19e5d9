"""What a translator with several languages is worth: other domains, careless typing, symbols, hints.

    python benchmarks/translator_quality.py [--model manyheads-1] flores
    python benchmarks/translator_quality.py [--model manyheads-1] careless
    python benchmarks/translator_quality.py [--model manyheads-1] placeholders --cut data/manyheads-1
    python benchmarks/translator_quality.py [--model manyheads-1] terms --cut data/manyheads-1

- `flores`: BLEU on the 997 sentences of FLORES-200 dev, every direction, beam 4, in float32 and in int8.
- `careless`: 500 of them in capitals, without a final stop, with a typing error in every fifth word, without accents:
  BLEU and its share of that of the clean text (capitals: both in lower case).
- `placeholders`: held-out strings of user interfaces, their placeholders as copy symbols: the share in which every
  symbol comes out exactly once, greedy and with a beam of 4, without constraints.
- `terms`: held-out sentences with a hint, the word that the reference has: the share of outputs that have it.

FLORES-200 is for measuring only: nothing is chosen by it. Needs the corpora (MANYHEADS_DATA).
"""

from __future__ import annotations

import argparse
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

from manyheads.config.corpora import CorpusSettings
from manyheads.config.symbols import MEANS, SYMBOL, TERM, TERM_END
from manyheads.data.lexicons.lexicon import Lexicon
from manyheads.data.modifiers.placeholders import with_copy_symbols
from manyheads.data.modifiers.typos import NEIGHBOURS
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.files import data_folder, read_lines
from manyheads.data.text.records import Pair
from manyheads.decoding.translator import Translator
from manyheads.metrics.scores import OverlapOptions, measure

HERE = Path(__file__).resolve().parent
CODES = {"de": "deu_Latn", "en": "eng_Latn", "fr": "fra_Latn", "zh": "zho_Hans"}
DIRECTIONS = [("de", "en"), ("en", "de"), ("fr", "en"), ("en", "fr"), ("zh", "en"), ("en", "zh")]
BEAM = 4


def flores(code: str) -> list[str]:
    """Return the sentences of a language."""
    return list(read_lines(data_folder() / "flores200" / f"{CODES[code]}.dev"))


def bleu(outputs: list[str], references: list[str], code: str, *, lowercase: bool = False) -> tuple[float, str]:
    """Return BLEU with its signature, by the tokenizer that suits the language."""
    options = OverlapOptions(lowercase=lowercase, bleu_tokenizer="zh" if code == "zh" else "13a")
    score = measure("bleu", outputs, [[one] for one in references], options)
    return score.value, score.signature


def measure_flores(model: str, options: argparse.Namespace) -> dict[str, object]:
    """Return BLEU of every direction, in float32 and in int8."""
    result: dict[str, object] = {}
    for precision in ("float32", "int8"):
        translator = Translator(model, precision=precision)
        for source, target in DIRECTIONS:
            outputs = translator.translate(flores(source), to=target, beam=BEAM)
            value, signature = bleu(outputs, flores(target), target)
            result[f"{source}-{target} {precision}"] = {"bleu": round(value, 2), "signature": signature}
            print(f"{source}-{target} {precision}: {value:.2f}", flush=True)
    return result


# --- Careless typing -------------------------------------------------------------------------------------------------


def one_typo_in_five_words(text: str) -> str:
    """Return a text with a neighbouring key in a letter of every fifth word."""
    words, random = text.split(" "), Random(text)
    for place in range(random.randrange(5), len(words), 5):
        letters = [i for i, letter in enumerate(words[place]) if letter.lower() in NEIGHBOURS]
        if letters:
            at = random.choice(letters)
            wrong = random.choice(NEIGHBOURS[words[place][at].lower()])
            words[place] = words[place][:at] + wrong + words[place][at + 1 :]
    return " ".join(words)


def bare(text: str) -> str:
    """Return a text without accents."""
    return "".join(one for one in unicodedata.normalize("NFD", text) if not unicodedata.combining(one))


CARELESS: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "no final stop": lambda text: text.rstrip(".。!？?！"),
    "typos": one_typo_in_five_words,
    "no accents": bare,
}


def measure_careless(model: str, options: argparse.Namespace) -> dict[str, object]:
    """Return BLEU of spoiled sources, and its share of that of clean ones."""
    translator, result = Translator(model), {}
    for source, target in DIRECTIONS:
        clean, references = flores(source)[:500], flores(target)[:500]
        plain = translator.translate(clean, to=target, beam=BEAM)
        for name, spoil in CARELESS.items():
            spoiled = [spoil(text) for text in clean]
            if spoiled == clean:
                continue  # Chinese has neither capitals nor accents
            lowercase = name == "capitals"
            before, _ = bleu(plain, references, target, lowercase=lowercase)
            outputs = translator.translate(spoiled, to=target, beam=BEAM)
            after, _ = bleu(outputs, references, target, lowercase=lowercase)
            result[f"{source}-{target} {name}"] = {"clean": before, "spoiled": after, "share": round(after / before, 3)}
            print(f"{source}-{target} {name}: {before:.2f} → {after:.2f}, {after / before:.1%}", flush=True)
    return result


# --- Symbols ---------------------------------------------------------------------------------------------------------


def held_out(cut: Path, pattern: str, code: str) -> Iterator[Pair]:
    """Yield the pairs of held-out files, English first."""
    for file in sorted(cut.glob(pattern.format(code=code))):
        yield from open_corpus(CorpusSettings(pairs=str(file)), split="test").pairs()


def directed(pairs: list[Pair], into: str) -> list[Pair]:
    """Return pairs of English and another language in the direction that ends in a language."""
    return [Pair(pair.target, pair.source) for pair in pairs] if into == "en" else pairs


def measure_placeholders(model: str, options: argparse.Namespace) -> dict[str, object]:
    """Return the share of strings whose copy symbols come out exactly once."""
    translator, result = Translator(model), {}
    for source, target in DIRECTIONS:
        other = target if source == "en" else source
        pairs = list(islice(held_out(options.cut, "placeholders.*.en-{code}.tsv.gz", other), 500))
        random = Random(1)
        texts = [with_copy_symbols(pair, random).source for pair in directed(pairs, target)]
        texts = [text for text in texts if SYMBOL.search(text)]
        for beam in (1, BEAM):
            outputs = translator.translate(texts, to=target, beam=beam)
            right = sum(
                Counter(SYMBOL.findall(text)) == Counter(SYMBOL.findall(output))
                for text, output in zip(texts, outputs, strict=True)
            )
            result[f"{source}-{target} beam {beam}"] = {"strings": len(texts), "carried": right / len(texts)}
            print(f"{source}-{target} beam {beam}: {right} of {len(texts)}, {right / len(texts):.2%}", flush=True)
    return result


def measure_terms(model: str, options: argparse.Namespace) -> dict[str, object]:
    """Return the share of hints that are obeyed."""
    translator, result = Translator(model), {}
    for source, target in DIRECTIONS:
        other = target if source == "en" else source
        lexicon = Lexicon.read(options.cut / f"lexicon.en-{other}.tsv", source_language=source, target_language=target)
        pairs = directed(list(held_out(options.cut, "test.*.en-{code}.tsv.gz", other)), target)
        hinted = list(islice(filter(None, (with_hint(pair, lexicon) for pair in pairs)), 300))
        outputs = translator.translate([text for text, _ in hinted], to=target, beam=BEAM)
        obeyed = sum(term.lower() in output.lower() for (_, term), output in zip(hinted, outputs, strict=True))
        marked = sum(bool(SYMBOL.search(output)) for output in outputs)
        result[f"{source}-{target}"] = {"sentences": len(hinted), "obeyed": obeyed / len(hinted), "marks left": marked}
        print(f"{source}-{target}: {obeyed} of {len(hinted)} obeyed, {marked} with a mark left", flush=True)
    return result


def with_hint(pair: Pair, lexicon: Lexicon) -> tuple[str, str] | None:
    """Return a source with a hint about the longest word whose translation is known, and the word of the hint."""
    links = [link for link in lexicon.links(pair) if re.search(r"\w", pair.source[slice(*link.source)])]
    if not links or any(map(SYMBOL.search, pair)):
        return None
    (begin, end), place = max(links, key=lambda link: (link.source[1] - link.source[0], link))
    term = pair.target[slice(*place)]
    return f"{pair.source[:begin]}{TERM}{pair.source[begin:end]}{MEANS}{term}{TERM_END}{pair.source[end:]}", term


PARTS = {
    "flores": measure_flores,
    "careless": measure_careless,
    "placeholders": measure_placeholders,
    "terms": measure_terms,
}


def main() -> None:
    """Measure a part and record it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--model", default="manyheads-1")
    parser.add_argument("--cut", type=Path, default=data_folder() / "manyheads-1")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "translator_quality.json")
    options = parser.parse_args()
    recorded = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    recorded[options.part] = {"model": options.model, **PARTS[options.part](options.model, options)}
    options.out.write_text(json.dumps(recorded, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
