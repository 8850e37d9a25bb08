"""Texts of the help: pages, keys and terms."""

from __future__ import annotations

PAGES_HELP = (
    ("Start", "open a sample, or drop your own files; in the menu of the project's name"),
    ("Data", "see how the files were read, link datasets, add more"),
    ("Map", "select and filter items, see what is close and linked, switch between maps"),
    ("Guidance", "next to the map: your guidance, how well the map follows it, and Ask me"),
    ("Clusters", "next to the map: its regions and your clusters"),
    ("Predict", "next to the map: links and labels that may be missing"),
    ("Compare", "run methods on the same data and see which map to trust"),
    ("Export", "figures for slides and print, tables, a report and a recipe to make the map again"),
)

KEYS = (
    ("V, L, R, D", "move, lasso, box, drag an item"),
    ("Click", "select an item, or nothing on an empty spot"),
    ("Shift or Ctrl + click", "add to the selection"),
    ("Alt + click", "take out of the selection"),
    ("Shift + drag", "lasso, from any tool"),
    ("Alt + drag", "an item onto the one that it belongs with, or to a place to pin it"),
    ("A, B", "put the selection into the sentence"),
    ("T, X", "belongs with, is not like; press again to add"),
    ("C", "is closer to the second item than to the selection"),
    ("G or K", "name the first items"),
    ("F", "show only items linked to the selection"),
    ("I, 1 to 4", "the panel and its tabs"),
    ("F6", "to the next part of the screen"),
    ("Arrows", "move the map, or move in a list or toolbar"),
    ("+ and −", "zoom"),
    ("0 or double click", "all of the map"),
    ("N and P", "step through selected or close items"),
    ("Enter", "add the statement in the bar, or select the current item"),
    ("Ctrl + A", "select all items in view"),
    ("Ctrl + Z", "undo; with Shift, redo"),
    ("/ or Ctrl + K", "find items, values, places on the map, colours, pages, commands"),
    ("Esc", "one step back, at last clear the selection"),
    ("Left, Right, S", "answer Ask me, or not sure"),
    ("Y, N, S", "accept, reject or skip a predicted link"),
    ("E", "change the colour of the current row of the legend"),
    ("?", "this help"),
)

GLOSSARY = (
    ("Dataset", "items of one kind, such as emoji, with the same features"),
    ("Item", "one row of a dataset, shown as a point or picture on the map"),
    ("Feature", "a property of an item: a number, category, text or picture"),
    ("Link", "two items that belong together, or apart if its weight is below zero"),
    ("Comparison", "an item that is closer to a second than to a third"),
    ("Label", "a category that you gave to an item"),
    ("Guidance", "all links, comparisons and labels that you gave"),
    ("Method", "an algorithm that makes a map from data and guidance"),
    ("Map", "positions of all items, so that linked and similar items are close"),
    (
        "Close",
        "a link is close if its ends are among the closest pairs on the map: as many as lie within "
        "the groups that links form, at least 5 %",
    ),
    ("Held out", "hidden from the method, to see whether the map finds it again"),
    ("Conflict", "guidance that contradicts other guidance"),
    ("Trust", "how many of the similar items in the data are close on the map"),
    ("Region", "an area of the map, found and named automatically"),
    ("Cluster", "a group of similar items that you can rename, merge and save"),
)
"""At most 15 terms."""
