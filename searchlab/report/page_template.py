"""Style sheet and template of the HTML page of a report.

Text is in one narrow column; numbers have tabular figures. Tables and drawings that are wider than the screen scroll
within their own box. Light or dark follows the reader's preference; print is always light.
"""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fdfdfc; --ink: #1d2228; --soft: #5a636e; --line: #d9dce0; --faint: #f3f4f5; --accent: #00609a;
  --good: #00795a; --shade: #0000001f;
  --text: Charter, "Bitstream Charter", "Iowan Old Style", "Source Serif 4", "Palatino Linotype", Georgia, serif;
  --plain: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --ink: #e4e6e9; --soft: #a3abb5; --line: #363c44; --faint: #1e2227; --accent: #6db8ea;
    --good: #4cc29d; --shade: #000000b0;
  }
}
* { box-sizing: border-box; }
html { font-size: 106.25%; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 var(--text); overflow-wrap: break-word; }
main { max-width: 46rem; margin: 0 auto; padding: 3.5rem 1.5rem 5rem; }
h1, h2, h3 { line-height: 1.2; font-weight: 600; text-wrap: balance; }
h1 { margin: 0 0 1rem; font-size: 2.1rem; letter-spacing: -.012em; }
h2 { margin: 3.5rem 0 .9rem; padding-top: 1.1rem; border-top: 1px solid var(--line); font-size: 1.4rem; }
h3 { margin: 0 0 .7rem; font: 600 .9rem/1.3 var(--plain); }
p { margin: 0 0 1rem; text-wrap: pretty; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:focus-visible, .scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
.summary { margin-bottom: 2rem; color: var(--soft); font-size: 1.2rem; line-height: 1.5; }
.contents { font: .88rem/1.5 var(--plain); }
.contents ol { columns: 15rem 2; column-gap: 2.5rem; margin: 0; padding: 0; list-style: none; }
.contents li { break-inside: avoid; padding: .16rem 0; }
.contents a { text-decoration-color: transparent; }
.contents a:hover { text-decoration-color: currentColor; }
figure { margin: 2rem 0 2.25rem; }
figcaption { margin-bottom: .7rem; font: .88rem/1.45 var(--plain); color: var(--ink); text-wrap: pretty; }
figcaption b { margin-right: .3em; }
.note { margin: .6rem 0 0; font: .8rem/1.5 var(--plain); color: var(--soft); }
.note code, .docno { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .94em; }
.scroll { overflow-x: auto; scrollbar-width: thin; }
.drawing svg { display: block; width: 100%; max-width: 40rem; height: auto; margin: 0 auto; font-family: var(--plain); }
.wide { margin-inline: calc(-1 * clamp(0px, (100vw - 50rem) / 2, 9rem)); }
.scroll {  /* a shade at the right while there is more to see; a cover that scrolls along hides it at the end */
  background: linear-gradient(to left, var(--paper) 1.2rem, transparent) right / 2.4rem 100% no-repeat local,
    linear-gradient(to left, var(--shade), transparent) right 1px top 0 / .8rem 100% no-repeat scroll;
}
table { min-width: min(100%, 43rem); margin: 0 auto; border-collapse: collapse; border-block: 1.5px solid var(--ink); }
table { font: .86rem/1.4 var(--plain); font-variant-numeric: lining-nums tabular-nums; }
th, td { padding: .42rem .7rem; text-align: left; vertical-align: baseline; font-weight: 400; }
th:first-child, td:first-child { padding-left: .15rem; }
th:last-child, td:last-child { padding-right: .15rem; }
thead th { border-bottom: 1px solid var(--ink); color: var(--soft); vertical-align: bottom; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
.few table { min-width: min(100%, 26rem); margin: 0; }
.named th:first-child { position: sticky; left: 0; background: var(--paper); background-clip: padding-box; }
.n { text-align: right; white-space: nowrap; }
strong { font-weight: 700; }
sup { display: inline-block; font-size: .72em; line-height: 0; vertical-align: super; text-align: left; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1.5rem; font: .84rem/1.45 var(--plain); }
.sides > * { min-width: 0; }
.sides ol { margin: 0; padding: 0; list-style: none; }
.sides li { display: grid; grid-template-columns: 1.9rem 1fr; padding: .6rem 0; border-top: 1px solid var(--line); }
.rank { color: var(--soft); font-variant-numeric: tabular-nums; }
.title { display: block; font-weight: 600; }
.snippet { display: block; margin-top: .25rem; color: var(--soft); }
.facts { display: block; margin-top: .15rem; font-size: .92em; color: var(--soft); }
.relevant { color: var(--good); font-weight: 600; }
.only { font-style: italic; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .3rem 1.5rem; margin: 0; }
dl { font: .84rem/1.5 var(--plain); }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  main { padding: 2rem 1.1rem 3rem; }
  h1 { font-size: 1.65rem; }
  h2 { margin-top: 2.5rem; font-size: 1.25rem; }
  .summary { font-size: 1.1rem; }
  .drawing svg { width: 30rem; max-width: none; }
  .named th:first-child { max-width: 9rem; }
  .sides { grid-template-columns: 1fr; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
@media print {
  :root {
    color-scheme: light; --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --accent: #000; --good: #00593f;
  }
  html { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .contents { display: none; }
  .scroll { overflow: visible; background: none; margin-inline: 0; }
  table { min-width: 100%; font-size: .78rem; }
  th, td { padding: .25rem .35rem; }
  .named th:first-child { position: static; background: none; }
  .drawing svg { width: 30rem; max-width: 100%; }
  h2, h3, figcaption { break-after: avoid; }
  .drawing, li, tr { break-inside: avoid; }
  thead { display: table-header-group; }
}
@page { margin: 20mm; }
"""

PAGE = """
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
<meta name="generator" content="searchlab" />
<title>{{ title }}</title>
<style>{{ style | safe }}</style>
</head>
<body>
<main>
<header>
<h1><bdi>{{ title }}</bdi></h1>
{% if summary %}
<p class="summary">{{ summary }}</p>
{% endif %}
{% if sections %}
<nav class="contents" aria-label="Contents">
<ol>
{% for section in sections %}
<li><a href="#{{ section.id }}">{{ section.title }}</a></li>
{% endfor %}
{% if facts %}
<li><a href="#facts">Facts</a></li>
{% endif %}
</ol>
</nav>
{% endif %}
</header>
{% for section in sections %}
<section aria-labelledby="{{ section.id }}">
<h2 id="{{ section.id }}">{{ section.title }}</h2>
{% for block in section.blocks %}
{% if block.kind == "paragraph" %}
<p>{{ block.text }}</p>
{% else %}
<figure id="{{ block.id }}">
<figcaption id="{{ block.id }}-caption"><b>{{ block.label }}</b> {{ block.caption }}</figcaption>
{% if block.kind == "figure" %}
<div class="scroll drawing" role="group" tabindex="0" aria-labelledby="{{ block.id }}-caption">{{ block.svg }}</div>
{% elif block.kind == "table" %}
{% set size = "few" if block.headings | length <= 4 else "wide" %}
<div class="scroll {{ size }}" role="region" tabindex="0" aria-labelledby="{{ block.id }}-caption">
<table{% if block.named %} class="named"{% endif %} aria-labelledby="{{ block.id }}-caption">
<thead><tr>
{% for heading in block.headings %}
<th scope="col"{% if heading.numeric %} class="n"{% endif %}>{{ heading.text }}
{%- if heading.mark_width %}<sup style="width: {{ heading.mark_width }}.5ch"></sup>{% endif %}</th>
{% endfor %}
</tr></thead>
<tbody>
{% for row in block.rows %}
<tr>
{% for item in row %}
{% set tag = "th" if loop.first and block.named else "td" %}
<{{ tag }}{% if tag == "th" %} scope="row"{% endif %}{% if item.numeric %} class="n"{% endif %}>
{%- if item.cell.best %}<strong>{{ item.cell.text }}</strong>{% else %}<bdi>{{ item.cell.text }}</bdi>{% endif %}
{{- item.pad }}
{%- if item.numeric and item.mark_width %}<sup style="width: {{ item.mark_width }}.5ch">{{ item.cell.mark }}</sup>
{%- elif item.cell.mark %}<sup>{{ item.cell.mark }}</sup>{% endif -%}
</{{ tag }}>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
</div>
<p class="note">{% if block.note %}{{ block.note }} {% endif %}All digits: <code>{{ block.file }}</code></p>
{% else %}
<div class="sides">
{% for title, documents in block.sides %}
<div>
<h3><bdi>{{ title }}</bdi></h3>
<ol>
{% for document in documents %}
<li value="{{ document.rank }}">
<span class="rank">{{ document.rank }}</span>
<div>
{% if document.title %}
<bdi class="title">{{ document.title }}</bdi>
{% endif %}
<span class="facts"><span class="{{ document.kind }}">{{ document.grade }}</span> ·
<span{% if not document.shared %} class="only"{% endif %}>{{ document.other_rank }}</span> ·
<bdi class="docno">{{ document.docno }}</bdi></span>
{% if document.snippet %}
<bdi class="snippet">{{ document.snippet }}</bdi>
{% endif %}
</div>
</li>
{% endfor %}
</ol>
</div>
{% endfor %}
</div>
{% endif %}
</figure>
{% endif %}
{% endfor %}
</section>
{% endfor %}
{% if facts %}
<section aria-labelledby="facts">
<h2 id="facts">Facts</h2>
<dl>
{% for name, value in facts %}
<dt>{{ name }}</dt>
<dd>{{ value }}</dd>
{% endfor %}
</dl>
</section>
{% endif %}
</main>
</body>
</html>
"""
