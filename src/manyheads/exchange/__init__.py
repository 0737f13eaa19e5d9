"""What models take from elsewhere and give away: pretrained word vectors."""
