"""Hugging Face's Seq2SeqTrainer on a MarianMTModel from scratch, stopped when its time is over.

The rate rises, and then falls in a line to zero at the end of the time. With the trainer's own schedule, a user would
have to know the number of updates for that.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from timed_part import OUTPUT, Clock, Part, run, train_pieces, write_lines
from torch.optim.lr_scheduler import LambdaLR
from transformers import (
    DataCollatorForSeq2Seq,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    set_seed,
)

NEVER = 10**9
LONGEST = 100  # tokens; longer texts and outputs are cut
WARMUP = 400  # updates
SETTINGS: dict[str, dict[str, Any]] = {
    # A good tutorial's choice for a small corpus.
    "shallow": {"layers": 3, "width": 256, "feed_forward": 1024, "sentences": 64, "rate": 0.001, "bfloat16": False},
    # Half as wide and half the batch: more updates in the same time, at a higher rate.
    "narrow": {"layers": 3, "width": 128, "feed_forward": 512, "sentences": 32, "rate": 0.002, "bfloat16": False},
    # Larger batches, in bfloat16 where the processor computes in it.
    "large batches": {
        "layers": 3,
        "width": 256,
        "feed_forward": 1024,
        "sentences": 128,
        "rate": 0.002,
        "bfloat16": True,
    },
}


def computes_in_bfloat16() -> bool:
    """Whether the processor has instructions for bfloat16."""
    facts = Path("/proc/cpuinfo")
    return facts.exists() and "avx512_bf16" in facts.read_text(encoding="utf-8")


def new_tokenizer(part: Part) -> MarianTokenizer:
    """Return the tokenizer of the pieces that were trained."""
    model = str(part.folder / "pieces.model")
    vocabulary = str(part.folder / "vocabulary.json")
    return MarianTokenizer(source_spm=model, target_spm=model, vocab=vocabulary, model_max_length=LONGEST)


def train_tokenizer(part: Part) -> None:
    """Train the pieces, and write the vocabulary as Marian has it."""
    import sentencepiece

    train_pieces(part, part.folder / "pieces", pad_id=0, unk_id=1, bos_id=-1, eos_id=2)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(part.folder / "pieces.model"))
    words = {pieces.id_to_piece(i): i for i in range(pieces.get_piece_size())}
    (part.folder / "vocabulary.json").write_text(json.dumps(words), encoding="utf-8")


def new_model(part: Part, tokenizer: MarianTokenizer) -> MarianMTModel:
    """Return a new model."""
    setting = SETTINGS[part.setting]
    config = MarianConfig(
        vocab_size=len(tokenizer),
        d_model=setting["width"],
        encoder_layers=setting["layers"],
        decoder_layers=setting["layers"],
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=setting["feed_forward"],
        decoder_ffn_dim=setting["feed_forward"],
        activation_function="relu",
        dropout=0.1,
        scale_embedding=True,
        init_std=setting["width"] ** -0.5,
        max_position_embeddings=2 * LONGEST,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
        forced_eos_token_id=None,
    )
    return MarianMTModel(config)


class Timed(TrainerCallback):
    """Keeps weights by a clock, and ends training when the time is over."""

    def __init__(self, part: Part, clock: Clock) -> None:
        self.part, self.clock = part, clock

    def on_step_end(
        self,
        args: Seq2SeqTrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **facts: Any,  # noqa: ANN401
    ) -> None:
        """Look at the clock after each update."""
        model = facts["model"]
        if self.clock.is_due():
            torch.save(model.state_dict(), self.part.keep(self.clock.seconds) / "weights.pt")
        if self.clock.is_over:
            self.part.facts(
                parameters=model.num_parameters(), vocabulary=model.config.vocab_size, updates=state.global_step
            )
            control.should_training_stop = True


def train(part: Part) -> None:
    """Train the tokenizer and the model."""
    set_seed(1)
    clock, setting = Clock(part), SETTINGS[part.setting]
    train_tokenizer(part)
    tokenizer = new_tokenizer(part)
    model = new_model(part, tokenizer)
    sources, targets = zip(*part.train, strict=True)
    texts = tokenizer(list(sources), text_target=list(targets), truncation=True)
    pairs = [{name: column[i] for name, column in texts.items()} for i in range(len(sources))]
    optimiser = torch.optim.AdamW(model.parameters(), lr=setting["rate"], betas=(0.9, 0.98), weight_decay=0.01)
    schedule = LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / WARMUP) * (1.0 - clock.share))
    arguments = Seq2SeqTrainingArguments(
        output_dir=str(part.folder / "model"),
        per_device_train_batch_size=setting["sentences"],
        label_smoothing_factor=0.1,
        train_sampling_strategy="group_by_length",
        max_steps=NEVER,
        bf16=setting["bfloat16"] and computes_in_bfloat16(),
        use_cpu=True,
        save_strategy="no",
        eval_strategy="no",
        report_to=[],
        logging_steps=100,
        disable_tqdm=True,
    )
    trainer = Seq2SeqTrainer(
        model,
        arguments,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        train_dataset=pairs,
        processing_class=tokenizer,
        callbacks=[Timed(part, clock)],
        optimizers=(optimiser, schedule),
    )
    trainer.train()


def translate(part: Part) -> None:
    """Translate the validation source with all weights that were kept."""
    tokenizer = new_tokenizer(part)
    model, texts = new_model(part, tokenizer).eval(), part.lines("valid.source")
    order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    for kept in part.kept():
        model.load_state_dict(torch.load(kept / "weights.pt"))
        outputs: dict[int, str] = {}
        for begin in range(0, len(order), 64):
            rows = order[begin : begin + 64]
            batch = tokenizer([texts[i] for i in rows], return_tensors="pt", padding=True, truncation=True)
            with torch.inference_mode():
                found = model.generate(**batch, num_beams=part.beam, do_sample=False, max_new_tokens=LONGEST)
            outputs.update(zip(rows, tokenizer.batch_decode(found, skip_special_tokens=True), strict=True))
        write_lines(kept / OUTPUT, [outputs[i] for i in range(len(texts))])


if __name__ == "__main__":
    run(train, translate)
