"""Whole models. All sequence-to-sequence models offer the five things that `interface` names, whatever is inside."""
