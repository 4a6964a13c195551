"""How do language models learn from queries, judgments and the texts themselves?"""
