"""Commands that compute features, and train and apply models."""
