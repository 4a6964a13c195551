"""What is answered? One module a subject: plain functions from checked parameters to plain JSON.

Pages and the API call the same functions, so that both say the same.
"""
