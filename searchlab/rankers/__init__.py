"""How are documents ranked by what was learnt from judgements?"""
