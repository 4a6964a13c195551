"""Reports: tables, plots and ranked documents as HTML, Markdown and LaTeX."""
