"""How is learning tried fairly: folds, choices made on validation, comparisons?"""
