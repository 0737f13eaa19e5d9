"""How good outputs are: BLEU and chrF by sacreBLEU, error rates, exact match, and significance."""
