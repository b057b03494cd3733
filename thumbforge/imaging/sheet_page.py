"""The sheet's page: a Jinja2 template (autoescape on) with its style. No script; choices are made by CSS alone.

Sizes are those at which YouTube shows thumbnails, in CSS pixels. All text has a contrast of 4.5 or more in both themes.
"""

from __future__ import annotations

from typing import NamedTuple


class Surface(NamedTuple):
    """Where viewers meet a thumbnail: a name, what it is, and its width in CSS pixels."""

    id: str
    name: str
    about: str
    width: int


SURFACES = (
    Surface("home", "Home", "The grid on the home page, 360 px wide.", 360),
    Surface("search", "Search", "Search results, 246 px wide.", 246),
    Surface("sidebar", "Sidebar", "The column beside a video, 168 by 94 px: the size that decides.", 168),
    Surface("mobile", "Mobile", "A list on a phone, 120 px wide.", 120),
    Surface("tv", "TV", "A row on a television, 560 px wide.", 560),
)

STYLE = """
:root { color-scheme: light; --ground: #fff; --raised: #f4f4f5; --ink: #0f0f0f; --soft: #4a4a4d; --line: #8a8a8e;
  --link: #0b57d0; --good: #0b6b2e; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root:has(#theme-system:checked) { color-scheme: dark; --ground: #0f0f0f;
  --raised: #1d1d1f; --ink: #f1f1f1; --soft: #bdbdc2; --line: #76767b; --link: #8ab4f8; --good: #7ee2a0;
  --bad: #ffb4ab; } }
:root:has(#theme-dark:checked) { color-scheme: dark; --ground: #0f0f0f; --raised: #1d1d1f; --ink: #f1f1f1;
  --soft: #bdbdc2; --line: #76767b; --link: #8ab4f8; --good: #7ee2a0; --bad: #ffb4ab; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
header, main, footer { max-width: 1840px; margin: 0 auto; padding: 16px; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 8px 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 36px 0 4px; }
main > section:first-child h2 { margin-top: 0; }
h3 { font-size: 1rem; line-height: 1.3; margin: 0 0 6px; overflow-wrap: anywhere; }
p { margin: 4px 0; }
a { color: var(--link); }
a:focus-visible, input:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: 16px; top: -60px; background: var(--ground); padding: 8px; }
.skip:focus { top: 8px; }
.soft { color: var(--soft); }
nav ul, .facts, .choices { display: flex; flex-wrap: wrap; gap: 6px 18px; padding: 0; margin: 8px 0; list-style: none; }
fieldset { border: 1px solid var(--line); border-radius: 8px; padding: 4px 12px 8px; margin: 8px 12px 0 0; min-width: 0;
  display: inline-block; }
label { display: inline-block; margin-right: 14px; padding: 2px 0; }
.grid { display: grid; gap: 20px 16px; padding: 0; margin: 12px 0; list-style: none;
  grid-template-columns: repeat(auto-fill, min(100%, var(--width))); }
.grid > li { min-width: 0; }
.list { display: flex; flex-wrap: wrap; gap: 14px 22px; padding: 0; margin: 12px 0; list-style: none; }
.list > li { display: grid; grid-template-columns: minmax(0, var(--width)) minmax(0, 1fr); gap: 10px; width: 410px;
  max-width: 100%; }
.shot { position: relative; display: block; width: var(--width); max-width: 100%; aspect-ratio: 16 / 9; margin: 0;
  overflow: hidden; border-radius: 10px; background: var(--raised); }
.shot img { display: block; width: 100%; height: 100%; object-fit: contain; }
.none { display: grid; place-items: center; width: 100%; height: 100%; color: var(--soft);
  border: 1px dashed var(--line); border-radius: 10px; font-size: .85rem; text-align: center; }
.mark { position: absolute; right: 6px; bottom: 6px; padding: 1px 5px; border-radius: 4px; background: #111;
  color: #fff; font: 500 12px/18px Roboto, Arial, sans-serif; }
.bar, .icons { display: none; position: absolute; }
.bar { left: 0; right: 0; bottom: 0; height: 4px; background: linear-gradient(90deg, #f03 40%, #ccc 40%); }
.icons { right: 6px; top: 6px; width: 28px; height: 64px;
  background: linear-gradient(#111 28px, transparent 28px 36px, #111 36px); border-radius: 4px; }
:root:has(#marks-all:checked) :is(.bar, .icons) { display: block; }
:root:has(#marks-none:checked) .mark { display: none; }
.name { margin: 6px 0 0; font-size: .9rem; font-weight: 500; line-height: 1.35; overflow-wrap: anywhere; }
.list .name { margin: 0; }
.detail { display: grid; gap: 14px; padding: 14px 0; border-top: 1px solid var(--line);
  grid-template-columns: minmax(0, 246px) minmax(0, 1fr); }
.detail dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; margin: 0; }
.detail dt { color: var(--soft); }
.detail dd { margin: 0; overflow-wrap: anywhere; }
.detail ul { margin: 6px 0 0; padding-left: 20px; overflow-wrap: anywhere; }
.good { color: var(--good); }
.bad { color: var(--bad); font-weight: 600; }
@media (max-width: 560px) { .detail, .list.wide > li { grid-template-columns: minmax(0, 1fr); } }
"""

PAGE = (
    """{% macro shot(card, width, lazy=true) %}
<span class="shot" style="--width: {{ width }}px">
{% if card.src %}
<img src="{{ card.src }}" alt="{{ card.item.description }}" width="{{ width }}"
 height="{{ (width * 9 / 16) | round | int }}" {%- if lazy %} loading="lazy"{% endif %} decoding="async">
{% else %}
<span class="none" role="img" aria-label="{{ card.item.heading }}: no picture yet">no picture yet</span>
{% endif %}
<span class="icons" aria-hidden="true"></span><span class="mark" aria-hidden="true">{{ card.mark }}</span>
<span class="bar" aria-hidden="true"></span></span>
{% endmacro %}
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'">
<title>{{ sheet.title }}: thumbnails{% if names | length > 1 %}, page {{ number }}{% endif %}</title>
<link rel="icon" href="data:,">
<style>"""
    + STYLE
    + """</style>
</head>
<body>
<a class="skip" href="#items">Skip to the items</a>
<header>
<h1 dir="auto">{{ sheet.title }}</h1>
{% if sheet.channel %}<p class="soft" dir="auto">{{ sheet.channel }}</p>{% endif %}
<ul class="facts">
<li>{{ sheet.items | length }} thumbnail{{ "" if sheet.items | length == 1 else "s" }}</li>
{% for status, count in sheet.counts %}<li>{{ count }} {{ status }}</li>{% endfor %}
{% for name, value in sheet.facts %}<li><span class="soft">{{ name }}:</span> {{ value }}</li>{% endfor %}
</ul>
<form>
<fieldset><legend>Theme</legend>
<label><input type="radio" name="theme" id="theme-system" checked> as the system</label>
<label><input type="radio" name="theme" id="theme-light"> light</label>
<label><input type="radio" name="theme" id="theme-dark"> dark</label></fieldset>
<fieldset><legend>YouTube's marks</legend>
<label><input type="radio" name="marks" id="marks-some" checked> duration</label>
<label><input type="radio" name="marks" id="marks-all"> also progress and icons</label>
<label><input type="radio" name="marks" id="marks-none"> none</label></fieldset>
</form>
{% if names | length > 1 %}
<nav aria-label="Pages"><ul>
{% for name in names %}
<li><a href="{{ name }}"{% if loop.index == number %} aria-current="page"{% endif %}>Page {{ loop.index }}</a></li>
{% endfor %}
</ul></nav>
{% endif %}
<nav aria-label="Sections"><ul>
{% for place in places %}<li><a href="#{{ place.id }}">{{ place.name }}</a></li>{% endfor %}
<li><a href="#items">Items</a></li>
</ul></nav>
</header>
<main>
{% for place in places %}
<section aria-labelledby="{{ place.id }}">
<h2 id="{{ place.id }}">{{ place.name }}</h2>
<p class="soft">{{ place.about }}</p>
<ul class="{{ 'grid' if place.width > 300 else 'list wide' if place.width > 200 else 'list' }}"
 style="--width: {{ place.width }}px">
{% for card in cards %}
<li>{{ shot(card, place.width, not (loop.first and place.id == "home")) }}
<p class="name" dir="auto">{{ card.item.title }}</p></li>
{% endfor %}
</ul>
</section>
{% endfor %}
<section aria-labelledby="items">
<h2 id="items">Items</h2>
{% for card in cards %}
<article class="detail" aria-labelledby="{{ card.id }}">
{{ shot(card, 246) }}
<div>
<h3 id="{{ card.id }}" dir="auto">{{ card.item.heading }}</h3>
<dl>
{% for name, value in card.facts %}
<dt>{{ name }}</dt>
<dd{% if name == "Status" %} class="{{ 'good' if card.item.good else 'bad' }}"{% endif %}>{{ value }}</dd>
{% endfor %}
{% if card.item.reason %}<dt>Out of date</dt><dd>{{ card.item.reason }}</dd>{% endif %}
</dl>
{% if card.item.notes %}<ul>{% for note in card.item.notes %}<li>{{ note }}</li>{% endfor %}</ul>{% endif %}
</div>
</article>
{% endfor %}
</section>
</main>
<footer><p class="soft">Sizes are in CSS pixels. Zoom to 100 % to see what viewers see.</p></footer>
</body>
</html>
"""
)
