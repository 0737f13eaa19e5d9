"""Metrics of outputs: BLEU and chrF by sacreBLEU, error rates, exact match, and significance tests.

| file | what it is |
|---|---|
| `scores` | a score, and the measurement of outputs by any metric |
| `overlap` | BLEU and chrF |
| `segmentation` | the sacreBLEU tokenizer for a language |
| `error_rates` | exact match, word and symbol error rates |
| `alignment_error` | the alignment error rate |
| `task_errors` | the error of each task, and how many tasks failed |
| `answers` | exact match and F1 of answers to questions |
| `comparison` | several systems on the same sentences |
| `significance` | confidence intervals, paired tests and corrections |
"""
