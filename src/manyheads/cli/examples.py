"""Examples of every verb, for the end of its help page. Every line fits into 76 columns."""

from __future__ import annotations

EXAMPLES: dict[str, str] = {
    "": """
        manyheads translate --to en "Je suis étudiant."
        manyheads train --source train.en --target train.de --out runs/mine
    """,
    "train": """
        manyheads train --source train.en --target train.de --out runs/mine
        manyheads train --pairs pairs.csv --both --max-minutes 10 --serve
        manyheads train --source train.en --target train.de --reverse
        manyheads train recipes/dates.yaml --set training.steps=2000
    """,
    "translate": """
        manyheads translate --to en "Je suis étudiant." "我爱中国。"
        manyheads translate --model runs/mine input.txt > output.txt
        manyheads translate app.po --to de --out app.de.po
    """,
    "generate": """
        manyheads generate --model runs/shakespeare "ROMEO:" --temperature 0.8
    """,
    "evaluate": """
        manyheads evaluate runs/mine --source test.en --target test.de
        manyheads evaluate runs/mine --pairs test.tsv --against runs/other
    """,
    "score": """
        manyheads score runs/mine --source test.en --target test.de
    """,
    "inspect": """
        manyheads inspect "Ich bin müde." --to en --out heads.html
        manyheads inspect --model runs/mine "a small dog" --show alignment
    """,
    "encode": """
        manyheads encode "A dog." "A cat." --model runs/minilm
        manyheads encode texts.txt --model runs/minilm --out vectors.npy
    """,
    "classify": """
        manyheads classify "What a film!" --model runs/kinds
        manyheads classify texts.txt --model runs/kinds --json
    """,
    "answer": r"""
        manyheads answer questions.tsv --model runs/whereabouts
        printf 'Who?\tIt was Ann.\n' | manyheads answer --model runs/whereabouts
    """,
    "serve": """
        manyheads serve
        manyheads serve en-de=runs/mine --host 0.0.0.0 --port 8080
    """,
    "export": """
        manyheads export runs/mine --to huggingface --out exported
        manyheads export runs/mine --to ctranslate2 --out ct2 --quantization int8
    """,
    "import": """
        manyheads import opus-mt-en-de --out runs/opus
    """,
    "models": """
        manyheads models
        manyheads models --json
    """,
    "shortlist": """
        manyheads shortlist runs/mine
        manyheads translate --model runs/mine --shortlist "A small dog."
    """,
    "describe": """
        manyheads describe recipes/vaswani-base.yaml
        manyheads describe runs/mine --json
    """,
    "validate": """
        manyheads validate recipes/dates.yaml
        manyheads validate mine.yaml --set training.steps=2000
    """,
    "recipe": """
        manyheads recipe new mine.yaml
    """,
    "recipe new": """
        manyheads recipe new mine.yaml
    """,
    "data": """
        manyheads data list
        manyheads data get multi30k-tok
    """,
    "data list": """
        manyheads data list
        manyheads data list --json
    """,
    "data cache": """
        manyheads data cache
        manyheads data cache --clear
    """,
    "data get": """
        manyheads data get multi30k-tok
        manyheads data get multi30k-tok --from ~/downloads --to data
    """,
    "data check": """
        manyheads data check --source train.en --target train.de
        manyheads data check --pairs train.tsv --write-clean clean
        manyheads data check --pairs pairs.csv --source-column English \\
            --target-column German
    """,
    "data cut": """
        manyheads data cut recipes/cuts/tatoeba.yaml --out cut
    """,
    "data lexicon": """
        manyheads data lexicon train.tsv --source-language en \\
            --target-language de --out lexicon.tsv
    """,
    "study": """
        manyheads study --list
        manyheads study path-length --quick
        manyheads study complexity --out studies/complexity --parallel 2
    """,
    "plan": """
        manyheads plan --source train.en --target train.de
        manyheads plan --pairs pairs.tsv --minutes 20 --out plan.json
        manyheads train --pairs pairs.tsv --max-minutes 60 --plan plan.json
    """,
}
