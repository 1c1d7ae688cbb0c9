"""The style of the report's page, light and dark; curves differ by colour and by dash."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2b36; --paper: #fff; --soft: #e6ebef; --bar: #1f6f8b; --second: #b3541e;
        --third: #4b7a2b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9ee; --paper: #14191d; --soft: #2b343b; --bar: #58a9c7;
        --second: #e79a66; --third: #9cc878; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 68rem;
       margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.2rem 0 .4rem; } p { margin: .3rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--soft);
         font-variant-numeric: tabular-nums; }
.long { min-width: 14rem; } td:first-child { min-width: 8rem; }
td p { margin: 0 0 .3rem; min-width: 18rem; }
svg { max-width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); } .rest { fill: var(--soft); } .bar { fill: var(--bar); }
.dot { fill: var(--bar); fill-opacity: .7; } .line { stroke: var(--ink); stroke-dasharray: 4; }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.curve0, .curve1, .curve2 { fill: none; stroke-width: 2; }
.curve0 { stroke: var(--bar); } .curve1 { stroke: var(--second); stroke-dasharray: 8 3; }
.curve2 { stroke: var(--third); stroke-dasharray: 2 3; }
.mark0 { fill: var(--bar); } .mark1 { fill: var(--second); } .mark2 { fill: var(--third); }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
figure { margin: 0; max-width: 340px; } figcaption { font-size: 13px; }
details p { white-space: pre-wrap; margin: .3rem 0; }
"""
