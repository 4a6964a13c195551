"""How is what was found shown: tables, plots, pages?"""
