"""The layers of the paper's figure 1: embedding, attention sublayers, feed-forward, and Add & Norm around each."""
