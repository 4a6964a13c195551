"""Learning to rank: estimators, trained models, bundles, re-ranking and explanations."""
